"""Files inside a PDF: taken out under caps, so that each can be parsed as a document of its own."""

from typing import Any

from pipelines.parse import sink
from pipelines.parse.settings import ParseSettings
from schemas.document import Attachment


def attachments(pdf: Any, settings: ParseSettings) -> tuple[Attachment, ...]:
    """Embedded files up to the caps; none where nobody keeps them or the name tree is damaged."""
    found: dict[str, Attachment] = {}
    most = settings.max_attachment_mb * 2**20
    try:
        for index in range(min(pdf.embfile_count(), settings.max_attachments)):
            info = pdf.embfile_info(index)
            if int(info.get("length") or info.get("size") or 0) > most:
                continue
            data = pdf.embfile_get(index)
            key = sink.current().attachment(data) if len(data) <= most else None
            if key:
                name = str(
                    info.get("ufilename") or info.get("filename") or info.get("name") or f"attachment {index + 1}"
                )
                found[key] = Attachment(name=name, size=len(data), key=key)
    except MemoryError:
        raise
    except Exception:  # a damaged name tree raises anything, and the document's own pages are still good
        return tuple(found.values())
    return tuple(found.values())
