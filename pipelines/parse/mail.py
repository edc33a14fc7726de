"""Mail messages: RFC 5322 through the standard library, Outlook's through python-oxmsg."""

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

from pipelines.errors import Code, Rejected
from pipelines.parse.archive import attach
from pipelines.parse.decode import decode
from pipelines.parse.formats import build, whole
from pipelines.parse.html import blocks_of_html
from pipelines.parse.settings import ParseSettings
from pipelines.parse.text import blocks_of
from schemas.document import Block, Document


def parse_eml(path: Path, *, name: str, settings: ParseSettings) -> Document:
    """Subject, correspondents, the body (the plain part before the HTML one), attachments as files of their own."""
    with whole("message"):
        message = BytesParser(EmailMessage, policy=policy.default).parsebytes(path.read_bytes())
        headers = {key.lower(): str(message[key]) for key in ("From", "To", "Cc", "Date") if message[key]}
        subject = " ".join(str(message["Subject"] or "").split())
        body = message.get_body(("plain", "html"))
        blocks = _body(body) if isinstance(body, EmailMessage) else []
        files = _attachments(message)
    return _document(name, "message/rfc822", subject, blocks, headers, files, settings)


def parse_msg(path: Path, *, name: str, settings: ParseSettings) -> Document:
    """The same of an Outlook message."""
    from oxmsg import Message

    with whole("message"):
        message = Message.load(str(path))
        sent = message.sent_date
        people = ", ".join(f"{one.name} <{one.email_address}>" for one in message.recipients)
        headers = {"from": message.sender or "", "to": people, "date": format_datetime(sent) if sent else ""}
        text, html = message.body or "", message.html_body or ""
        blocks = list(blocks_of(text) if text.strip() else blocks_of_html(html))
        files = [(one.file_name or "attachment", one.file_bytes or b"") for one in message.attachments]
        subject = " ".join((message.subject or "").split())
    shown = {key: value for key, value in headers.items() if value}
    return _document(name, "application/vnd.ms-outlook", subject, blocks, shown, files, settings)


def _document(
    name: str,
    media_type: str,
    subject: str,
    blocks: list[Block],
    headers: dict[str, str],
    files: list[tuple[str, bytes]],
    settings: ParseSettings,
) -> Document:
    if len(files) > settings.max_attachments:
        raise Rejected(Code.PARSE_BOMB, f"{len(files)} attachments, {settings.max_attachments} are allowed")
    attachments = tuple(attach(label, data, settings) for label, data in files)
    if attachments:
        headers = headers | {"attachments": ", ".join(one.name for one in attachments)}
    if subject:
        blocks = [Block(kind="heading", text=subject, level=1, engine="email"), *blocks]
    dated = _date(headers.get("date", ""))
    made = build(blocks, name=name, media_type=media_type, title=subject, dated=dated, metadata=headers)
    return made.model_copy(update={"attachments": attachments})


def _attachments(message: EmailMessage) -> list[tuple[str, bytes]]:
    """Name and bytes; a forwarded message is a file too."""
    files = []
    for part in message.iter_attachments() if message.is_multipart() else ():
        content = part.get_payload(decode=True)
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload(0)
            content = inner.as_bytes() if isinstance(inner, EmailMessage) else b""
        if isinstance(content, bytes) and content:
            label = part.get_filename() or ("message.eml" if part.get_content_maintype() == "message" else "attachment")
            files.append((label, content))
    return files


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
