"""Page images for review: made when first asked for, kept as artifacts."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import select

from pipelines.app import App
from pipelines.derived import working_on
from pipelines.errors import Code, Rejected
from schemas.document import Box
from sql import tables


def page_image(app: App, version: str, page: int, boxes: Sequence[Box] = ()) -> bytes:
    """PNG of a page (1-based) of a version, `boxes` (points, as in `Chunk.boxes`) marked.

    It shows the raw page: callers must have checked that their reader may see it. Raises Rejected(UNKNOWN_SUBJECT) for
    an unknown version or page or an erased file, Rejected(PARSE_*) for what cannot be shown.
    """
    v = tables.version
    with app.database.read() as tx:
        row = tx.execute(select(v.c.sha256, v.c.uri).where(v.c.id == version, v.c.kb == app.kb)).first()
    if row is None:
        raise Rejected(Code.UNKNOWN_SUBJECT, f"no version {version}")
    places = ";".join(f"{box.x0:.1f},{box.y0:.1f},{box.x1:.1f},{box.y1:.1f}" for box in boxes)
    mark = hashlib.sha256(places.encode()).hexdigest()[:16]
    key = f"raw/page/{row.sha256}/{app.parser_version.replace(':', '-')}-{page}-{mark}.png"
    if app.artifacts.exists(key):
        return app.artifacts.get(key)
    try:
        with app.artifacts.local(f"raw/file/{row.sha256}") as path:
            png = app.page_image(path, Path(row.uri).name, page, boxes)
    except KeyError as error:
        raise Rejected(Code.UNKNOWN_SUBJECT, "the file of this version is not kept any more") from error
    with working_on(version):
        app.artifacts.put(key, png)
    return png
