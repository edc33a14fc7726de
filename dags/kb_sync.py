"""Layers 1 to 6: scan, take batches of documents through the layers, build a release in review, start its approval.

A sync never waits for people. A batch that fails turns the run red at its end; all others are staged and reviewed all
the same, and the next sync goes on with what is left.
"""

from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, Param, TriggerRule, get_current_context, task, task_group
from airflow.sdk.exceptions import AirflowSkipException
from airflow.timetables.trigger import CronTriggerTimetable

from pipelines.airflow_dags import RETRY, actor
from pipelines.layers import LAYERS

TEXT: dict[str, Any] = {"default": None, "type": ["null", "string"]}
LAYER_NAMES = [layer.name for layer in LAYERS]

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
        "source": Param(**TEXT, description="Only this source of sources.yaml."),
        "path": Param(**TEXT, description="Only files that match this glob."),
        "full": Param(False, type="boolean", description="Open every file, whatever its time and size say."),
        "from_layer": Param(**TEXT, enum=[None, *LAYER_NAMES], description="Run again from this layer on."),
        "confirm_deletions": Param(False, type="boolean", description="Pass the breaker that guards mass removals."),
    },
):

    @task
    def scan(params: dict[str, Any]) -> list[list[str]]:
        from pipelines import airflow_tasks

        return airflow_tasks.plan(params, actor(get_current_context()))

    @task
    def run_layer(layer: str, versions: list[str]) -> list[str]:
        from pipelines import airflow_tasks

        return airflow_tasks.run_layer(layer, versions, actor(get_current_context()))

    @task_group
    def batch(versions: Any) -> None:
        for name in LAYER_NAMES:
            versions = run_layer.override(task_id=name)(name, versions)

    @task(trigger_rule=TriggerRule.ALL_DONE)
    def build() -> dict[str, int]:
        from pipelines import airflow_tasks

        number = airflow_tasks.build(actor(get_current_context()))
        if number is None:
            raise AirflowSkipException("nothing to review")
        return {"release": number}

    @task(trigger_rule=TriggerRule.ALL_DONE)
    def watch(batches: Any) -> int:
        from pipelines import airflow_tasks

        return airflow_tasks.check(batches, actor(get_current_context()))

    batches, built = scan(), build()
    review = TriggerDagRunOperator(
        task_id="review",
        trigger_dag_id="kb_release",
        trigger_run_id="release-{{ ti.xcom_pull(task_ids='build')['release'] }}",
        conf=built,
        skip_when_already_exists=True,  # an unchanged release is asked about once
    )
    batch.expand(versions=batches) >> built >> review >> watch(batches)
