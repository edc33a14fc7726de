"""Process chosen documents anew, slice by slice. Each slice is a run of `kb_sync`, so both never run at once; when one
is through, this DAG starts itself for what is left. What is done is not chosen again: any run may be killed.
"""

from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, Param, get_current_context, task
from airflow.sdk.exceptions import AirflowSkipException

from pipelines.airflow_dags import RETRY, actor, optional, reason, who
from pipelines.layers import LAYERS

with DAG(
    "kb_backfill",
    description="Process chosen documents anew from a chosen layer on",
    schedule=None,
    is_paused_upon_creation=False,
    catchup=False,
    max_active_runs=1,
    default_args=RETRY,
    tags=["sluice", "ingest"],
    params={
        "sources": Param([], type="array", items={"type": "string"}, description="Only these; empty: all."),
        "path": optional("Only documents whose path matches this glob."),
        "since": optional("Only what was taken in on this day or later.", format="date"),
        "until": optional("Only what was taken in on this day or earlier.", format="date"),
        "from_layer": Param(LAYERS[0].name, enum=[layer.name for layer in LAYERS], description="From here on."),
        "forced": Param(False, type="boolean", description="Also where neither code nor settings have changed."),
        "slice": Param(500, type="integer", minimum=1, description="Documents in one run of kb_sync."),
        "token": optional("Of a forced backfill that is to go on; leave it empty to start one."),
        "reason": reason(),
    },
) as dag:

    @task
    def form(params: dict[str, Any]) -> dict[str, Any]:
        token = (params["token"] or who()[0]) if params["forced"] else None
        return {**params, "token": token}

    @task
    def conf(chosen: dict[str, Any]) -> dict[str, Any]:
        return {"again": {**chosen, "reason": None}, "scan": False}

    @task
    def left(chosen: dict[str, Any]) -> dict[str, Any]:
        from pipelines import airflow_tasks

        if not airflow_tasks.backfill_left(chosen, actor(get_current_context())):
            raise AirflowSkipException("all is done")
        return chosen

    chosen = form()
    # The reason stays with this run, whose id the started run carries.
    sync = TriggerDagRunOperator(
        task_id="sync",
        trigger_dag_id="kb_sync",
        trigger_run_id="{{ run_id }}",
        conf=conf(chosen),
        wait_for_completion=True,
        poke_interval=5,
        skip_when_already_exists=True,
    )
    rest = left(chosen)
    sync >> rest >> TriggerDagRunOperator(task_id="again", trigger_dag_id=dag.dag_id, conf=rest)
