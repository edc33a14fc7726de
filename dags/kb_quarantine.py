"""Take something from readers at once, at every release."""

from typing import Any

from airflow.sdk import DAG, get_current_context, task

from pipelines.airflow_dags import RETRY, actor, subject

with DAG(
    "kb_quarantine",
    description="Take something from readers at once",
    schedule=None,
    is_paused_upon_creation=False,
    catchup=False,
    default_args=RETRY,
    tags=["sluice", "governance"],
    params=subject(("document", "source", "version", "chunk")),
):

    @task
    def quarantine(params: dict[str, Any]) -> dict[str, int]:
        from pipelines import airflow_tasks

        who = actor(get_current_context())
        return airflow_tasks.govern("quarantine", params["kind"], params["subject"], params["reason"], who)

    quarantine()
