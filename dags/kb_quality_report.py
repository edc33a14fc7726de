"""The quality report on a release: suites over what readers see and over the index, figures, drift; shown on the pages.

Red when a critical expectation failed; the report is there all the same.
"""

from typing import Any

from airflow.sdk import DAG, Param, get_current_context, task
from airflow.timetables.trigger import CronTriggerTimetable

from pipelines.airflow_dags import RETRY, actor
from pipelines.airflow_notify import Tell

with DAG(
    "kb_quality_report",
    description="Check a release and report on its quality",
    schedule=CronTriggerTimetable("0 6 * * *", timezone="UTC"),
    catchup=False,
    max_active_runs=1,
    default_args=RETRY,
    tags=["sluice", "maintenance"],
    params={"release": Param(None, type=["null", "integer"], minimum=1, description="Empty: the live release.")},
):

    @task(on_failure_callback=[Tell("quality.failed", "What readers see does not pass its checks.")])
    def report(params: dict[str, Any]) -> dict[str, int]:
        from pipelines.airflow_quality import report as act

        return act(params["release"], actor(get_current_context()))

    report()
