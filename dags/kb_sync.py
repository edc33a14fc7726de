"""Layers 1 to 6: scan, take batches of documents through the layers, build a release in review, start its approval.

A sync never waits for people. What fails turns the run red at its end; all else is staged and reviewed all the same.
"""

from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, Param, TriggerRule, chain, task, task_group
from airflow.sdk.exceptions import AirflowSkipException
from airflow.timetables.trigger import CronTriggerTimetable

from pipelines.airflow_dags import RED, RETRY, optional, quality_report, who
from pipelines.layers import LAYERS

with DAG(
    "kb_sync",
    description="Scan the sources and build a release in review",
    schedule=CronTriggerTimetable("0 2 * * *", timezone="UTC"),
    catchup=False,
    max_active_runs=1,
    max_active_tasks=2,
    default_args=RETRY,
    tags=["sluice", "ingest"],
    params={
        "source": optional("Only this source of sources.yaml."),
        "path": optional("Only files that match this glob."),
        "full": Param(False, type="boolean", description="Open every file, whatever its time and size say."),
        "from_layer": optional("Process anew from here on.", enum=[None, *(layer.name for layer in LAYERS)]),
        "scan": Param(True, type="boolean", description="Look for new files; else only work on what waits."),
        "again": Param(None, type=["null", "object"], description="What kb_backfill has chosen."),
        "confirm_deletions": Param(False, type="boolean", description="Pass the breaker that guards mass removals."),
    },
):

    @task
    def scan(params: dict[str, Any]) -> list[list[str]]:
        from pipelines import airflow_tasks

        return airflow_tasks.plan(params, *who())

    @task
    def run_layer(layer: str, versions: list[str]) -> None:
        from pipelines import airflow_tasks

        airflow_tasks.run_layer(layer, versions, *who())

    @task_group
    def batch(versions: Any) -> None:
        chain(*[run_layer.override(task_id=one.name)(one.name, versions) for one in LAYERS])

    @task(trigger_rule=TriggerRule.ALL_DONE)
    def build() -> dict[str, int]:
        from pipelines import airflow_tasks

        number = airflow_tasks.build(*who())
        if number is None:
            raise AirflowSkipException("nothing to review")
        return {"release": number}

    @task(trigger_rule=TriggerRule.ALL_DONE, on_failure_callback=RED)
    def watch(batches: Any, built: Any, checked: Any) -> int:
        from pipelines import airflow_tasks

        return airflow_tasks.check(batches, *who(), unchecked=bool(built) and checked is None)

    batches, built = scan(), build()
    review = TriggerDagRunOperator(
        task_id="review",
        trigger_dag_id="kb_release",
        trigger_run_id="release-{{ ti.xcom_pull(task_ids='build')['release'] }}",
        conf=built,
        skip_when_already_exists=True,  # an unchanged release is asked about once
        # A check that crashed holds no review up.
        trigger_rule=TriggerRule.ALL_DONE_MIN_ONE_SUCCESS,
        on_failure_callback=RED,
    )
    checked = quality_report(built["release"], strict=False)
    # Both end the run: it is red as well where no review could be started.
    batch.expand(versions=batches) >> built >> checked >> [review, watch(batches, built, checked)]
