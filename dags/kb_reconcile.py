"""Compare SQL with what the index really holds; red when they differ and nobody asked for a repair."""

from typing import Any

from airflow.sdk import DAG, Param, get_current_context, task
from airflow.timetables.trigger import CronTriggerTimetable

from pipelines.airflow_dags import RETRY, actor
from pipelines.airflow_notify import Tell

with DAG(
    "kb_reconcile",
    description="Compare SQL and index",
    schedule=CronTriggerTimetable("0 5 * * *", timezone="UTC"),
    catchup=False,
    max_active_runs=1,
    default_args=RETRY,
    tags=["sluice", "maintenance"],
    params={"repair": Param(False, type="boolean", description="Mend the index; SQL is the authority.")},
):

    @task(on_failure_callback=[Tell("index.drift", "The index differs from SQL, or could not be compared.")])
    def reconcile(params: dict[str, Any]) -> dict[str, int]:
        from pipelines import airflow_tasks

        return airflow_tasks.reconcile(params["repair"], actor(get_current_context()))

    reconcile()
