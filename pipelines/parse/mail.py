"""Mail messages (RFC 5322) through the standard library."""

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from pathlib import Path

from pipelines.parse.decode import decode
from pipelines.parse.formats import build, whole
from pipelines.parse.html import blocks_of_html
from pipelines.parse.settings import ParseSettings
from pipelines.parse.text import blocks_of
from schemas.document import Block, Document


def parse_eml(path: Path, *, name: str, settings: ParseSettings) -> Document:
    """Subject, correspondents and the body; the plain part is preferred over the HTML one."""
    with whole("message"):
        message = BytesParser(EmailMessage, policy=policy.default).parsebytes(path.read_bytes())
        headers = {key.lower(): str(message[key]) for key in ("From", "To", "Cc", "Date") if message[key]}
        subject = " ".join(str(message["Subject"] or "").split())
        body = message.get_body(("plain", "html"))
        blocks = _body(body) if isinstance(body, EmailMessage) else []
        files = [part.get_filename() or "" for part in message.iter_attachments()] if message.is_multipart() else []
    if subject:
        blocks = [Block(kind="heading", text=subject, level=1, engine="email"), *blocks]
    metadata = headers | ({"attachments": ", ".join(filter(None, files))} if any(files) else {})
    return build(
        blocks,
        name=name,
        media_type="message/rfc822",
        title=subject,
        dated=_date(headers.get("date", "")),
        metadata=metadata,
    )


def _body(part: EmailMessage) -> list[Block]:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset()
    try:
        text = data.decode(charset) if charset else decode(data).text
    except (LookupError, UnicodeDecodeError):  # a wrong label is common
        text = decode(data).text
    return list(blocks_of_html(text) if part.get_content_type() == "text/html" else blocks_of(text))


def _date(text: str) -> str | None:
    try:
        return parsedate_to_datetime(text).date().isoformat()
    except (ValueError, TypeError):
        return None
