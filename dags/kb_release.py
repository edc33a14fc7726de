"""A release in review becomes the live one: by policy, or by a person's answer. Our database decides, Airflow asks."""

from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, Param, TriggerRule, task
from airflow.sdk.exceptions import AirflowSkipException

from pipelines.airflow_dags import RETRY, quality_report
from pipelines.airflow_notify import Tell
from pipelines.airflow_question import ReleaseQuestion

with DAG(
    "kb_release",
    description="Approve and publish one release",
    schedule=None,
    is_paused_upon_creation=False,
    catchup=False,
    max_active_runs=16,
    default_args=RETRY,
    tags=["sluice", "governance"],
    params={
        "release": Param(type="integer", minimum=1, description="Number of the release."),
        "escalated": Param(False, type="boolean", description="Ask whom the policies name for want of an answer."),
    },
):

    @task
    def prepare(params: dict[str, Any]) -> dict[str, Any]:
        from pipelines import airflow_tasks

        return airflow_tasks.prepare(params["release"], params["escalated"])

    @task.branch
    def route(prepared: dict[str, Any]) -> str:
        return "ask" if prepared["ask"] else "publish"

    ask = ReleaseQuestion(
        task_id="ask",
        subject="Publish release {{ params.release }}?",
        body="{{ ti.xcom_pull(task_ids='prepare')['body'] }}",
        notifiers=[Tell("review.waiting", "Release {{ params.release }} waits for a review.")],
        params={"reason": Param(None, type=["null", "string"], format="multiline", description="Kept in the audit.")},
    )

    @task
    def decide(answer: Any, params: dict[str, Any]) -> dict[str, Any]:
        from pipelines import airflow_tasks

        return airflow_tasks.decide(params["release"], answer, params["escalated"])

    # One publisher at a time: a second one fails on the lock in our database.
    @task(
        trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS,
        max_active_tis_per_dag=1,
        on_failure_callback=[Tell("release.failed", "Release {{ params.release }} was not published.")],
    )
    def publish(decided: Any, params: dict[str, Any]) -> int | None:
        from pipelines import airflow_tasks

        return airflow_tasks.publish(params["release"], (decided or {}).get("actor"))

    @task(trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS)
    def left(prepared: dict[str, Any], decided: Any) -> dict[str, Any]:
        if following := prepared["next"] or (decided or {}).get("next"):
            return following
        raise AirflowSkipException("nothing is left to ask")

    prepared = prepare()
    routed, decided = route(prepared), decide(ask.output)
    published, following = publish(decided), left(prepared, decided)
    run = "{{ ti.xcom_pull(task_ids='left')['run'] }}"
    again = TriggerDagRunOperator(
        task_id="again", trigger_dag_id="kb_release", trigger_run_id=run, conf=following["conf"]
    )
    routed >> [ask, published]
    published >> [quality_report(published), following]
    following >> again
