"""EPUB (2 and 3): the chapters in the order of the spine, each read as HTML."""

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pipelines.parse.decode import decode
from pipelines.parse.formats import build, whole
from pipelines.parse.html import blocks_of_html
from pipelines.parse.settings import ParseSettings
from pipelines.parse.xml import read_xml
from schemas.document import Block, Document

CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"


def parse_epub(path: Path, *, name: str, settings: ParseSettings) -> Document:
    """Sizes and paths of the archive have been checked by `sniff`. Raises Rejected(PARSE_CORRUPT | PARSE_NO_TEXT)."""
    with whole("book"), zipfile.ZipFile(path) as archive:
        container = read_xml(archive.read("META-INF/container.xml"))
        root = next(container.iter(CONTAINER + "rootfile")).get("full-path")
        package = read_xml(archive.read(root))
        blocks = list(_chapters(archive, package, posixpath.dirname(root)))
    facts = {key: _fact(package, key) for key in ("title", "date", "creator", "publisher")}
    metadata = {key: value for key, value in facts.items() if value}
    title, dated = facts["title"], facts["date"]
    return build(blocks, name=name, media_type="application/epub+zip", title=title, dated=dated, metadata=metadata)


def _chapters(archive: zipfile.ZipFile, package: Any, folder: str) -> Iterator[Block]:
    files = {item.get("id"): item for item in package.iter(OPF + "item")}
    names = set(archive.namelist())
    for reference in package.iter(OPF + "itemref"):
        item = files.get(reference.get("idref"))
        if (
            item is None
            or "html" not in (item.get("media-type") or "")
            or "nav" in (item.get("properties") or "").split()
        ):
            continue
        target = posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
        if target in names:
            yield from blocks_of_html(decode(archive.read(target)).text)


def _fact(package: Any, key: str) -> str:
    found = next(package.iter(DC + key), None)
    return " ".join((found.text or "").split()) if found is not None else ""
