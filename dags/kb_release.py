"""A release in review becomes the live one: by policy, or by a person's answer. Our database decides, Airflow asks."""

from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import DAG, Param, TriggerRule, task

from pipelines.airflow_dags import RETRY

with DAG(
    "kb_release",
    description="Approve and publish one release",
    schedule=None,
    is_paused_upon_creation=False,
    catchup=False,
    max_active_runs=16,
    default_args=RETRY,
    tags=["sluice", "governance"],
    params={"release": Param(type="integer", minimum=1, description="Number of the release.")},
):

    @task
    def prepare(params: dict[str, Any]) -> dict[str, Any]:
        from pipelines import airflow_tasks

        return airflow_tasks.prepare(params["release"])

    @task.branch
    def route(prepared: dict[str, Any]) -> str:
        return "ask" if prepared["ask"] else "publish"

    ask = HITLOperator(
        task_id="ask",
        subject="Publish release {{ params.release }}?",
        body="{{ ti.xcom_pull(task_ids='prepare')['body'] }}",
        options=["Approve", "Hold", "Decline"],
        defaults="Hold",
        response_timeout=timedelta(days=7),
        params={"reason": Param(None, type=["null", "string"], format="multiline", description="Kept in the audit.")},
        # An answer within a second or two of the question can fail the task: it asks again.
        retries=3,
        retry_delay=timedelta(seconds=5),
        retry_policy=None,
    )

    @task
    def decide(answer: Any, params: dict[str, Any]) -> str:
        from pipelines import airflow_tasks

        return airflow_tasks.decide(params["release"], answer)

    # One publisher at a time: a second one fails on the lock in our database.
    @task(trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS, max_active_tis_per_dag=1)
    def publish(decided_by: str | None, params: dict[str, Any]) -> int | None:
        from pipelines import airflow_tasks

        return airflow_tasks.publish(params["release"], decided_by)

    prepared = prepare()
    routed, decided = route(prepared), decide(ask.output)
    published = publish(decided)
    routed >> [ask, published]
