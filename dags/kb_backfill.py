"""Take chosen documents through the layers again. It starts `kb_sync` with this form, so both never run at once."""

from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, Param, task

from pipelines.airflow_dags import RETRY, reason
from pipelines.layers import LAYERS

TEXT: dict[str, Any] = {"default": None, "type": ["null", "string"]}

with DAG(
    "kb_backfill",
    description="Run chosen sources again from a chosen layer on",
    schedule=None,
    is_paused_upon_creation=False,
    catchup=False,
    max_active_runs=1,
    default_args=RETRY,
    tags=["sluice", "ingest"],
    params={
        "source": Param(**TEXT, description="Only this source of sources.yaml."),
        "path": Param(**TEXT, description="Scan only files that match this glob."),
        "from_layer": Param(LAYERS[0].name, enum=[layer.name for layer in LAYERS], description="From here on."),
        "full": Param(True, type="boolean", description="Open every file, whatever its time and size say."),
        "reason": reason(),
    },
):

    @task
    def form(params: dict[str, Any]) -> dict[str, Any]:
        return {key: params[key] for key in ("source", "path", "from_layer", "full")}

    # The reason stays with this run, whose id the started run carries.
    TriggerDagRunOperator(task_id="sync", trigger_dag_id="kb_sync", trigger_run_id="{{ run_id }}", conf=form())
