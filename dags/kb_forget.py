"""Erase something everywhere, for good: shows what used it, asks a second time, then acts."""

from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import DAG, task

from pipelines.airflow_dags import RETRY, subject

with DAG(
    "kb_forget",
    description="Erase something everywhere, for good",
    schedule=None,
    is_paused_upon_creation=False,
    catchup=False,
    max_active_runs=1,
    default_args=RETRY,
    tags=["sluice", "governance"],
    params=subject(("document", "source", "version", "chunk")),
):

    @task
    def impact(params: dict[str, Any]) -> str:
        from pipelines import airflow_tasks

        return airflow_tasks.impact(params["kind"], params["subject"], params["reason"])

    confirm = HITLOperator(
        task_id="confirm",
        subject="Erase {{ params.kind }} {{ params.subject }} for good?",
        body="{{ ti.xcom_pull(task_ids='impact') }}",
        options=["Erase", "Leave"],
        defaults="Leave",
        response_timeout=timedelta(days=7),
        # An answer within a second or two of the question can fail the task: it asks again.
        retries=3,
        retry_delay=timedelta(seconds=5),
        retry_policy=None,
    )

    @task
    def forget(answer: Any, params: dict[str, Any]) -> dict[str, int] | None:
        from pipelines import airflow_tasks

        return airflow_tasks.forget(params["kind"], params["subject"], params["reason"], answer)

    impact() >> confirm
    forget(confirm.output)
