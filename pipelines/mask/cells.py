"""A number that a table has in two neighbouring cells, and names in the column that a heading announces."""

import re
from collections.abc import Callable, Iterator

from pipelines.mask import checks

_BORDER = r"[ ]?(?:[ ]?\|[ ]?|\t|\n{3,})[ ]?"
"""Between cells: of Markdown, of tabbed text, of the visible text of HTML."""
_HALVES = re.compile(rf"(?<![0-9A-Za-z.,\-])([0-9]{{3,15}})(?={_BORDER}([0-9]{{1,15}}[Xx]?)(?![0-9A-Za-z.,%\-]))")
_ANNOUNCED = re.compile(r"手机|移动电话|联系电话|联系方式|(?i:mobile|phone)")
_NAME_HEADING = re.compile(r"^(?:姓\s{0,2}名|联系人|负责人|经办人|收件人|申请人|员工|客户姓名|学生姓名|患者)$")
_CELL = re.compile(r"[^|\t\n]+")


def halves(text: str) -> Iterator[tuple[int, int, str]]:
    """Both parts of an identity card (by its check digit) or of a mobile (where the table speaks of telephones)."""
    announced: bool | None = None
    for match in _HALVES.finditer(text):
        whole = match[1] + match[2]
        if len(whole) == 18 and checks.id_card(whole):
            kind = "ID_CARD"
        elif len(whole) == 11 and re.fullmatch(r"1[3-9]\d{9}", whole):
            announced = bool(_ANNOUNCED.search(text)) if announced is None else announced
            if not announced:
                continue
            kind = "PHONE"
        else:
            continue
        yield *match.span(1), kind
        yield *match.span(2), kind


def named_column(text: str, is_name: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Names below a heading such as 姓名, as far as the table goes."""
    if not ("|" in text or "\t" in text):
        return
    columns: set[int] = set()
    at = 0
    for line in text.split("\n"):
        cells = [(cell.group().strip(), at + cell.start()) for cell in _CELL.finditer(line)]
        if "|" not in line and "\t" not in line:
            columns = set()
        elif heads := {place for place, (cell, _) in enumerate(cells) if _NAME_HEADING.match(cell)}:
            columns = heads
        else:
            for place in columns & set(range(len(cells))):
                cell, start = cells[place]
                if is_name(cell):
                    start = text.index(cell, start)
                    yield start, start + len(cell)
        at += len(line) + 1
