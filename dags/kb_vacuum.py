"""Remove what no kept release shows, by the retention settings."""

from airflow.sdk import DAG, get_current_context, task
from airflow.timetables.trigger import CronTriggerTimetable

from pipelines.airflow_dags import RETRY, actor

with DAG(
    "kb_vacuum",
    description="Remove what no kept release shows",
    schedule=CronTriggerTimetable("0 4 * * 0", timezone="UTC"),
    catchup=False,
    max_active_runs=1,
    default_args=RETRY,
    tags=["sluice", "maintenance"],
):

    @task
    def vacuum() -> dict[str, int]:
        from pipelines import airflow_tasks

        return airflow_tasks.vacuum(actor(get_current_context()))

    vacuum()
