"""How well the live release answers the evaluation sets of sources.yaml; the report is kept and shown on the pages."""

from typing import Any

from airflow.sdk import DAG, Param, get_current_context, task
from airflow.timetables.trigger import CronTriggerTimetable

from pipelines.airflow_dags import RETRY, actor

with DAG(
    "kb_evaluate",
    description="Evaluate a release",
    schedule=CronTriggerTimetable("30 5 * * 1", timezone="UTC"),
    catchup=False,
    max_active_runs=1,
    default_args=RETRY,
    tags=["sluice", "maintenance"],
    params={
        "set": Param(None, type=["null", "string"], description="A JSON lines file; empty: the sets of sources.yaml."),
        "release": Param(None, type=["null", "integer"], minimum=1, description="Empty: the live release."),
        "against": Param(None, type=["null", "integer"], minimum=1, description="Compare with this release."),
    },
):

    @task
    def evaluate(params: dict[str, Any]) -> dict[str, float]:
        from pipelines import airflow_tasks

        return airflow_tasks.evaluate(params, actor(get_current_context()))

    evaluate()
