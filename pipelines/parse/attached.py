"""Files inside a PDF: taken out under caps, so that each can be parsed as a document of its own."""

from typing import Any

from pipelines.parse import sink
from schemas.document import Attachment

MAX_FILES = 20
MAX_BYTES = 50 * 2**20


def attachments(pdf: Any) -> tuple[Attachment, ...]:
    """Embedded files up to the caps; none where nobody keeps them or the name tree is damaged."""
    found: dict[str, Attachment] = {}
    try:
        for index in range(min(pdf.embfile_count(), MAX_FILES)):
            info = pdf.embfile_info(index)
            if int(info.get("length") or info.get("size") or 0) > MAX_BYTES:
                continue
            data = pdf.embfile_get(index)
            key = sink.current().attachment(data) if len(data) <= MAX_BYTES else None
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
