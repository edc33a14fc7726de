"""Tell people that something waits or failed: by webhook (a JSON POST) and by mail. Numbers, ids and codes only."""

import json
import smtplib
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass
from email.message import EmailMessage

import structlog

from pipelines.settings import NotifySettings

log = structlog.get_logger()
SECONDS = 10
MOST = 1000
"""Characters of a message: what an error quotes may be long."""


@dataclass(frozen=True)
class Event:
    name: str
    """`review.waiting`, `release.failed` (the gate among it), `sync.failed` (a breaker among it), `index.drift`,
    `quality.failed`, `quality.drift`."""
    message: str
    url: str = ""
    """Where to look."""


def tell(settings: NotifySettings, event: Event) -> int:
    """To every target; how many were reached. A target that fails is logged and never raises."""
    ways: list[tuple[str, Callable[[], None]]] = [
        (url, lambda url=url: _post(url, event))  # type: ignore[misc]
        for url in settings.webhooks
    ]
    if settings.mail_to and settings.smtp_host:
        ways.append(("mail", lambda: _mail(settings, event)))
    reached = 0
    for number, (_, way) in enumerate(ways):
        try:
            way()
            reached += 1
        except (OSError, ValueError, smtplib.SMTPException) as error:
            # The address of a webhook is a secret: its place in the list says which one it was.
            log.error("notification failed", target=number, event_name=event.name, error=type(error).__name__)
    return reached


def _post(url: str, event: Event) -> None:
    body = {"schema": "sluice.event/1", **asdict(event), "message": event.message[:MOST]}
    body["text"] = f"Sluice: {body['message']} {event.url}".strip()  # what chat systems show
    request = urllib.request.Request(
        url, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"}, method="POST"
    )
    if not url.startswith(("http://", "https://")):
        raise ValueError("a webhook is an http address")
    with urllib.request.urlopen(request, timeout=SECONDS):
        pass


def _mail(settings: NotifySettings, event: Event) -> None:
    mail = EmailMessage()
    mail["Subject"] = f"Sluice: {event.name}"
    mail["From"], mail["To"] = settings.mail_from, ", ".join(settings.mail_to)
    mail.set_content(f"{event.message[:MOST]}\n\n{event.url}\n")
    with smtplib.SMTP(settings.smtp_host, settings.smtp_port, timeout=SECONDS) as server:
        if settings.smtp_starttls:
            server.starttls()
        if settings.smtp_user:
            server.login(settings.smtp_user, settings.smtp_password.get_secret_value())
        server.send_message(mail)
