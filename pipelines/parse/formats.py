"""What the parsers of text formats share: title, language, dates, tables and safe XML."""

import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from pipelines.errors import Code, Rejected, SluiceError
from pipelines.parse.cells import Cell, Grid, flatten, to_html, to_markdown
from schemas.document import Block, Document

DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.年]\s?(\d{1,2})[-/.月]\s?(\d{1,2})(?!\d)")
# W3C XML 1.0, 4.2.2: an external entity is declared by SYSTEM or PUBLIC; internal ones can still multiply.
ENTITY = re.compile(rb"<!ENTITY", re.I)
EXTERNAL = re.compile(rb"<!ENTITY[^>]*\b(?:SYSTEM|PUBLIC)\b|<!DOCTYPE[^>\[]*\b(?:SYSTEM|PUBLIC)\b[^>\[]*\[", re.I)


def build(
    blocks: Sequence[Block],
    *,
    name: str,
    media_type: str,
    title: str = "",
    dated: str | None = None,
    encoding: str | None = None,
    metadata: dict[str, str] | None = None,
) -> Document:
    """The document; raises Rejected(PARSE_NO_TEXT) where nothing was found."""
    if not any(block.text.strip() for block in blocks):
        raise Rejected(Code.PARSE_NO_TEXT, "no text was found")
    headings = (block.text for block in blocks if block.kind == "heading" and block.level == 1 and not block.hidden)
    return Document(
        title=" ".join((title or next(headings, "") or PurePosixPath(name).stem).split())[:200],
        media_type=media_type,
        language=language("".join(block.text[:2000] for block in blocks[:200])),
        blocks=tuple(blocks),
        dated=iso_date(dated or ""),
        encoding=encoding,
        metadata=metadata or {},
    )


def language(text: str) -> str:
    """`zh` from 15 % Han characters among letters on (English terms abound in Chinese manuals), else `en` if Latin."""
    han = sum("\u4e00" <= character <= "\u9fff" for character in text)
    latin = sum(character.isalpha() and character.isascii() for character in text)
    letters = sum(character.isalpha() for character in text)
    if han >= 0.15 * letters and han:
        return "zh"
    return "en" if letters and latin > 0.8 * letters else "und"


def iso_date(text: str) -> str | None:
    """The first date in `text` as YYYY-MM-DD."""
    import datetime

    for found in DATE.finditer(text):
        try:
            return datetime.date(*(int(part) for part in found.groups())).isoformat()
        except ValueError:
            continue
    return None


def table_block(rows: Grid, *, page: int | None = None, caption: str | None = None, engine: str = "") -> Block | None:
    """A block of a grid; None for a table without text. Several rows of head are one line in Markdown."""
    grid = tuple(row for row in rows if row)
    if not any(cell.text.strip() for row in grid for cell in row):
        return None
    heads = next((at for at, row in enumerate(grid) if not all(cell.header for cell in row)), 0)
    text = to_markdown(_one_head(grid, heads) if heads > 1 else grid)
    return Block(kind="table", text=text, html=to_html(grid), page=page, caption=caption, engine=engine)


def _one_head(grid: Grid, heads: int) -> Grid:
    """The head's texts of each column in one cell, from top to bottom, each once."""
    flat = flatten(grid)
    columns = zip(*flat[:heads], strict=True)
    head = [" / ".join(filter(None, dict.fromkeys(texts))) for texts in columns]
    return tuple(tuple(Cell(text) for text in row) for row in [head, *flat[heads:]])


def plain_grid(rows: Sequence[Sequence[str]], header: bool) -> Grid:
    """A grid without spans; whitespace inside cells is one space, so that a row stays one line."""
    return tuple(
        tuple(Cell(" ".join(text.split()), header=header and number == 0) for text in row)
        for number, row in enumerate(rows)
    )


def refuse_entities(path: Path) -> None:
    """No office file declares entities. Raises Rejected(PARSE_XXE | PARSE_BOMB | PARSE_CORRUPT)."""
    with whole("archive"), zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if member.endswith((".xml", ".rels")):
                with archive.open(member) as file:
                    refuse_entity_in(file.read(65_536), member)


def refuse_entity_in(head: bytes, what: str) -> None:
    """Declared entities fetch files or multiply. Raises Rejected(PARSE_XXE | PARSE_BOMB)."""
    head = head.replace(b"\0", b"")  # UTF-16 declares them too
    if EXTERNAL.search(head):
        raise Rejected(Code.PARSE_XXE, f"{what} declares external entities")
    if ENTITY.search(head):
        raise Rejected(Code.PARSE_BOMB, f"{what} declares entities, which can multiply without end")


@contextmanager
def whole(what: str) -> Iterator[None]:
    """Whatever a library raises on a malformed file becomes Rejected(PARSE_CORRUPT)."""
    try:
        yield
    except (SluiceError, MemoryError):
        raise
    except Exception as error:  # the libraries document no common error, and damaged files raise anything
        raise Rejected(Code.PARSE_CORRUPT, f"the {what} is damaged: {type(error).__name__}: {error}"[:300]) from error
