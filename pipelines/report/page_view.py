"""A page of a document as a reviewer may see it: the raw page, with every place that holds personal data covered."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pipelines.errors import Code, Rejected
from pipelines.layers import load
from schemas.chunk import Chunk, Masked, MaskedChunk, Parsed
from schemas.document import Block, Box

if TYPE_CHECKING:
    from pipelines.app import App

COVER = (32, 38, 46)
MARGIN = 2.0
"""Points around a box: letters reach over its edge."""


def page_view(app: "App", version: str, artifacts: Mapping[str, str], page: int) -> bytes:
    """PNG. Raises Rejected (PII_UNMASKABLE) where personal data has no known place on the page, and as `page_image`."""
    from pipelines.pages import page_image

    parsed, masked = _both(app, artifacts)
    places = covered(parsed, masked, page)
    size = next(((one.width, one.height) for one in parsed.document.pages if one.page == page), (None, None))
    if places and not size[0]:
        raise Rejected(Code.PII_UNMASKABLE, "the page holds personal data, and its size is not known")
    png = page_image(app, version, page)
    return _cover(png, places, float(size[0])) if places and size[0] else png


def figure_view(app: "App", artifacts: Mapping[str, str], chunk: str) -> bytes:
    """PNG of the figure that a chunk points to. Raises Rejected (PII_UNMASKABLE) where its text was masked, for those
    words stand in the picture too, (UNKNOWN_SUBJECT) where there is none."""
    parsed, masked = _both(app, artifacts)
    shown = next((one for one in masked.chunks if one.id == chunk), None)
    if shown is None or not shown.artifact:
        raise Rejected(Code.UNKNOWN_SUBJECT, "this chunk has no figure")
    made = {one.id: one for one in masked.chunks}
    # A long table is cut into several chunks that share its picture.
    if any(_hides(one, made.get(one.id)) for one in parsed.chunks if one.artifact == shown.artifact):
        raise Rejected(Code.PII_UNMASKABLE, "the figure holds personal data")
    try:
        return app.artifacts.get(shown.artifact)
    except KeyError as error:
        raise Rejected(Code.UNKNOWN_SUBJECT, "the figure is not kept any more") from error


def _both(app: "App", artifacts: Mapping[str, str]) -> tuple[Parsed, Masked]:
    try:
        return load(app, artifacts["parse"], Parsed), load(app, artifacts["mask"], Masked)
    except KeyError as error:
        raise Rejected(Code.UNKNOWN_SUBJECT, "this version has not been masked, or its artifacts are gone") from error


def covered(parsed: Parsed, masked: Masked, page: int) -> list[Box]:
    """Boxes on the page whose raw text differs from what is shown of it. Raises Rejected where a place is not known."""
    found: list[Box] = []
    raw = {one.id: one for one in parsed.chunks}
    for one in masked.chunks:
        before = raw.get(one.id)
        if before is not None and _differs(before, one):
            found += _boxes(one, page)
    values = _sensitive(raw, masked)
    for block in parsed.document.blocks:
        if block.page == page and (block.hidden or any(value in block.text for value in values)):
            found += _places(block, page)
    if parsed.document.title != masked.title or _in_furniture(parsed.document.furniture, values):
        raise Rejected(Code.PII_UNMASKABLE, "its title, or what repeats on its pages, holds personal data")
    return found


def _hides(raw: Chunk, masked: MaskedChunk | None) -> bool:
    """Whether the chunk, as it is shown, lacks what stands in its picture."""
    return masked is None or _differs(raw, masked) or raw.context != masked.context


def _differs(raw: Chunk, masked: MaskedChunk) -> bool:
    return raw.text != masked.text or raw.html != masked.html


def _boxes(chunk: MaskedChunk, page: int) -> list[Box]:
    first, last = chunk.page_start or page, chunk.page_end or chunk.page_start or page
    boxes = [one.box for one in chunk.boxes if one.page == page]
    if not boxes and first <= page <= last:
        raise Rejected(Code.PII_UNMASKABLE, "a chunk with personal data has no known place on the page")
    return boxes


def _sensitive(raw: Mapping[str, Chunk], masked: Masked) -> set[str]:
    """Headings and values that masking took out, wherever they stand again (headings are blocks without a chunk)."""
    from pipelines.report.wording import marked

    found: set[str] = set()
    for one in masked.chunks:
        before = raw.get(one.id)
        if before is None:
            continue
        found |= {old for old, new in zip(before.section, one.section, strict=False) if old != new}
        if before.text != one.text:
            found |= {piece.text.strip() for piece in marked(before.text, one.text) if piece.operation == "cut"}
    return {value for value in found if len(value) >= 2}


def _places(block: Block, page: int) -> list[Box]:
    boxes = [one.box for one in block.parts if one.page == page] or ([block.box] if block.box else [])
    if not boxes:
        raise Rejected(Code.PII_UNMASKABLE, "a block with personal data has no known place on the page")
    return boxes


def _in_furniture(furniture: Sequence[str], values: Iterable[str]) -> bool:
    from pipelines.mask import leaks

    text = "\n".join(furniture)
    return any(value in text for value in values) or bool(leaks(text))


def _cover(png: bytes, places: Sequence[Box], width: float) -> bytes:
    from PIL import Image, ImageDraw

    image = Image.open(io.BytesIO(png)).convert("RGB")
    scale = image.width / width
    draw = ImageDraw.Draw(image)
    for box in places:
        corners = (box.x0 - MARGIN, box.y0 - MARGIN, box.x1 + MARGIN, box.y1 + MARGIN)
        draw.rectangle(tuple(round(one * scale) for one in corners), fill=COVER)
    out = io.BytesIO()
    image.quantize(64).save(out, "PNG", optimize=True)
    return out.getvalue()
