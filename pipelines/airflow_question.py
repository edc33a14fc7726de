"""The question of `kb_release`, put to the reviewers that the policies name at the time of asking."""

from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator

OPTIONS = ["Approve", "Hold", "Decline"]


class ReleaseQuestion(HITLOperator):  # type: ignore[misc]
    """Users and deadline come from task `prepare`: an operator's arguments are fixed when its file is parsed.

    An answer within a second or two of the question can fail the task (seen on 3.3.2): it asks again.
    """

    def __init__(self, **arguments: Any) -> None:
        again: dict[str, Any] = {"retries": 3, "retry_delay": timedelta(seconds=5), "retry_policy": None}
        super().__init__(options=OPTIONS, defaults="Hold", response_timeout=timedelta(days=7), **{**arguments, **again})

    def execute(self, context: Any) -> Any:
        prepared = context["ti"].xcom_pull(task_ids="prepare")
        self.assigned_users = [{"id": user, "name": user} for user in prepared["users"]]
        self.response_timeout = timedelta(hours=prepared["hours"])
        return super().execute(context)
