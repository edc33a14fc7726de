"""Fill a collection for another embedder, then switch; queries and publications go on meanwhile."""

from typing import Any

from airflow.sdk import DAG, Param, get_current_context, task

from pipelines.airflow_dags import RETRY, actor, reason

with DAG(
    "kb_reembed",
    description="Change the embedder",
    schedule=None,
    is_paused_upon_creation=False,
    catchup=False,
    max_active_runs=1,
    default_args=RETRY,
    tags=["sluice", "maintenance"],
    params={
        "embedder": Param(
            "", type="string", description="A name of SLUICE_EMBEDDERS or a bundled one; empty: default."
        ),
        "reason": reason(),
    },
):

    @task
    def reembed(params: dict[str, Any]) -> dict[str, int]:
        from pipelines import airflow_tasks

        return airflow_tasks.reembed(params["embedder"], params["reason"], actor(get_current_context()))

    reembed()
