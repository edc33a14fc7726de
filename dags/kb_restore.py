"""Give back to readers what was quarantined."""

from typing import Any

from airflow.sdk import DAG, get_current_context, task

from pipelines.airflow_dags import RETRY, actor, subject

with DAG(
    "kb_restore",
    description="Give back what was quarantined",
    schedule=None,
    is_paused_upon_creation=False,
    catchup=False,
    default_args=RETRY,
    tags=["sluice", "governance"],
    params=subject(("document", "source", "version", "chunk")),
):

    @task
    def restore(params: dict[str, Any]) -> dict[str, int]:
        from pipelines import airflow_tasks

        who = actor(get_current_context())
        return airflow_tasks.govern("restore", params["kind"], params["subject"], params["reason"], who)

    restore()
