"""Compare SQL with what the index really holds; red when they differ and nobody asked for a repair."""

from typing import Any

from airflow.sdk import DAG, Param, get_current_context, task
from airflow.timetables.trigger import CronTriggerTimetable

from pipelines.airflow_dags import RETRY, actor

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

    @task
    def reconcile(params: dict[str, Any]) -> dict[str, int]:
        from pipelines import airflow_tasks

        return airflow_tasks.reconcile(params["repair"], actor(get_current_context()))

    reconcile()
