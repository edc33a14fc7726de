"""Readers go back to an earlier release, at once."""

from typing import Any

from airflow.sdk import DAG, Param, get_current_context, task

from pipelines.airflow_dags import RETRY, actor, reason

with DAG(
    "kb_rollback",
    description="Make an earlier release the live one",
    schedule=None,
    is_paused_upon_creation=False,
    catchup=False,
    max_active_runs=1,
    default_args=RETRY,
    tags=["sluice", "governance"],
    params={
        "release": Param(
            None, type=["null", "integer"], minimum=0, description="Number of a release that was live; 0: nothing."
        ),
        "document": Param(None, type=["null", "string"], description="Or: only this document,"),
        "version": Param(None, type=["null", "string"], description="to this version of it."),
        "reason": reason(),
    },
):

    @task
    def rollback(params: dict[str, Any]) -> int:
        from pipelines import airflow_tasks

        return airflow_tasks.rollback(params, actor(get_current_context()))

    rollback()
