"""What the DAG files share: retries, form fields, and who acts."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, Param, get_current_context, task
from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy, RetryAction, RetryRule

from pipelines.airflow_notify import Tell

RETRY: dict[str, Any] = {
    "retries": 3,
    "retry_delay": timedelta(seconds=30),
    # Only what may pass by itself is worth a second try; all other errors stay what they are.
    "retry_policy": ExceptionRetryPolicy(
        rules=[RetryRule(exception="pipelines.errors.Transient", action=RetryAction.RETRY)], default=RetryAction.FAIL
    ),
}
RED = [Tell("sync.failed", "A sync ended red.")]


def reason() -> Any:
    """A required form field: why; kept in the audit."""
    return Param(type="string", minLength=3, format="multiline", description="Why; kept in the audit.")


def optional(description: str, **schema: Any) -> Any:
    """A form field that may be left empty."""
    return Param(None, type=["null", "string"], description=description, **schema)


def subject(kinds: tuple[str, ...]) -> dict[str, Any]:
    """Form fields that name a thing of one of these kinds."""
    return {
        "kind": Param(kinds[0], enum=list(kinds), description="What the id names."),
        "subject": Param(type="string", minLength=1, description="Its id; for a source its name."),
        "reason": reason(),
    }


def governing(action: Any, description: str, kinds: tuple[str, ...]) -> DAG:
    """The DAG of a form that names something and says why, and of one task that acts on it."""
    with DAG(
        f"kb_{action}",
        description=description,
        schedule=None,
        is_paused_upon_creation=False,
        catchup=False,
        default_args=RETRY,
        tags=["sluice", "governance"],
        params=subject(kinds),
    ) as dag:

        @task
        def act(params: dict[str, Any]) -> dict[str, int]:
            from pipelines import airflow_tasks

            return airflow_tasks.govern(action, params["kind"], params["subject"], params["reason"], who()[1])

        act.override(task_id=action)()
    return dag


def who() -> tuple[str, str]:
    """(run id, actor) of the running task."""
    context = get_current_context()
    return str(context["run_id"]), actor(context)


def actor(context: Mapping[str, Any]) -> str:
    """Who triggered this run; the schedule acts as `airflow`."""
    return str(getattr(context["dag_run"], "triggering_user_name", None) or "airflow")


_TELL = Tell("quality.failed", "A release does not pass its checks, or could not be checked.")


@task(on_failure_callback=[_TELL])  # type: ignore[untyped-decorator]
def quality_report(release: int | None, strict: bool = True) -> dict[str, int] | None:
    """Failed expectations by severity, of a release where there is one; `strict`: red when a critical one failed."""
    from pipelines.airflow_quality import report as act

    return act(release, who()[1], strict) if release else None
