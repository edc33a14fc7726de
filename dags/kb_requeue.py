"""Send rejected versions through the layers again, at the next sync."""

from typing import Any

from airflow.sdk import DAG, get_current_context, task

from pipelines.airflow_dags import RETRY, actor, subject

with DAG(
    "kb_requeue",
    description="Give rejected versions another try",
    schedule=None,
    is_paused_upon_creation=False,
    catchup=False,
    default_args=RETRY,
    tags=["sluice", "governance"],
    params=subject(("version", "document", "source")),
):

    @task
    def requeue(params: dict[str, Any]) -> dict[str, int]:
        from pipelines import airflow_tasks

        who = actor(get_current_context())
        return airflow_tasks.govern("requeue", params["kind"], params["subject"], params["reason"], who)

    requeue()
