"""Tells people through Airflow's notifiers: a review waits, a publication or a sync failed, the index drifted."""

from typing import Any

from airflow.sdk import BaseNotifier


class Tell(BaseNotifier):  # type: ignore[misc]
    """Sends an event to the targets that the settings name; a target that fails is logged and holds nothing up."""

    template_fields = ("message",)

    def __init__(self, event: str, message: str) -> None:
        super().__init__()
        self.event = event
        self.message = message

    def notify(self, context: Any) -> None:
        from pipelines.notify import Event, tell
        from pipelines.settings import Settings

        ti = context["ti"]
        error = context.get("exception")
        told = self.message if error is None else f"{self.message} {error}"
        tell(Settings().notify, Event(self.event, told, str(getattr(ti, "log_url", "") or "")))
