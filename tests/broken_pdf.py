"""Some seventy ways to break a PDF, each with what should come of it: text, text with a warning, or codes."""

import io
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

TEXT, WARNED = "text", "text, and a warning"
WORDS = "The committee met in March and agreed on the budget for the coming year."


class Case(NamedTuple):
    name: str
    data: bytes
    outcomes: tuple[str, ...]
    """Any of these is right."""
    file: str = "a.pdf"


def good(pages: int = 3, **save: Any) -> bytes:
    import pymupdf

    with pymupdf.open() as pdf:
        for number in range(pages):
            page = pdf.new_page()
            for line in range(8):
                page.insert_text((72, 100 + 18 * line), f"{WORDS} Part {number}.{line}.")
        return bytes(pdf.tobytes(**save))


def raw(
    content: bytes = b"", page: str = "", extra: str = "", catalog: str = "", pages: str = "", **stream: str
) -> bytes:
    """A PDF of one page written by hand. `page`, `catalog`, `pages`: more entries; `extra`: more objects, from 6 on."""
    content = content or b"BT /F1 12 Tf 72 700 Td (" + WORDS.encode() + b") Tj ET"
    entries = "".join(f" /{key} {value}" for key, value in stream.items())
    tree = pages or "/Kids [3 0 R] /Count 1"
    box = "" if "/MediaBox" in page else "/MediaBox [0 0 595 842]"
    resources = "" if "/Resources" in page else "/Resources << /Font << /F1 4 0 R >> >>"
    length = "" if "Length" in stream else f" /Length {len(content)}"
    head = (
        f"1 0 obj\n<< /Type /Catalog /Pages 2 0 R {catalog} >>\nendobj\n"
        f"2 0 obj\n<< /Type /Pages {tree} >>\nendobj\n"
        f"3 0 obj\n<< /Type /Page /Parent 2 0 R {box} {resources} /Contents 5 0 R {page} >>\nendobj\n"
        "4 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n"
        f"{extra}5 0 obj\n<<{length}{entries} >>\nstream\n"
    )
    body = b"%PDF-1.7\n" + head.encode("latin-1") + content + b"\nendstream\nendobj\n"
    offsets = {int(line.split()[0]): at for at, line in _objects(body)}
    size = max(offsets) + 1
    table = "".join(f"{offsets.get(n, 0):010d} {'00000 n' if n in offsets else '65535 f'} \n" for n in range(size))
    end = f"xref\n0 {size}\n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + end.encode()


def stream(entries: str, data: str) -> str:
    return f"6 0 obj\n<< {entries} /Length {len(data)} >>\nstream\n{data}\nendstream\nendobj\n"


def _objects(body: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    for line in body.split(b"\n"):
        if line.endswith(b" 0 obj"):
            yield at, line
        at += len(line) + 1


def locked(method: int, user: str) -> bytes:
    import pymupdf

    with pymupdf.open(stream=good(), filetype="pdf") as pdf:
        return bytes(pdf.tobytes(encryption=method, user_pw=user, owner_pw="owner"))


def bomb(megabytes: int, times: int = 1) -> bytes:
    data = b" " * (megabytes * 2**20)
    for _ in range(times):
        data = zlib.compress(data, 9)
    return data


def cases() -> list[Case]:
    return [*_cut(), *_xref(), *_locked(), *_trees(), *_streams(), *_objects_inside(), *_others()]


def _cut() -> Iterator[Case]:
    whole, packed = good(), good(use_objstms=1, garbage=3, deflate=True)
    lost = ("parse.corrupt", "parse.truncated", "parse.no_text", WARNED)
    for tenth in range(1, 10):
        yield Case(f"cut at {tenth}0 %", whole[: len(whole) * tenth // 10], lost)
        yield Case(f"packed, cut at {tenth}0 %", packed[: len(packed) * tenth // 10], lost)
    yield Case("without its last bytes", whole[:-10], (TEXT, WARNED))
    yield Case("a hole in the middle", whole[:900] + b"\0" * 400 + whole[1300:], lost)


def _xref() -> Iterator[Case]:
    whole = raw()
    start = whole.rindex(b"startxref")
    yield Case("startxref 0", whole[:start] + b"startxref\n0\n%%EOF\n", (WARNED,))
    yield Case("startxref beyond the end", whole[:start] + b"startxref\n99999999\n%%EOF\n", (WARNED,))
    yield Case("no xref", whole[: whole.rindex(b"xref\n0")], (WARNED,))
    yield Case("offsets moved", whole.replace(b"%PDF-1.7\n", b"%PDF-1.7\n%more\n"), (TEXT, WARNED))
    yield Case("no trailer", whole.replace(b"trailer", b"tralier"), (WARNED,))
    yield Case("no root", whole.replace(b"/Root 1 0 R", b""), (WARNED, "parse.corrupt"))
    yield Case("root is no object", whole.replace(b"/Root 1 0 R", b"/Root 77 0 R"), (WARNED, "parse.corrupt"))
    yield Case("root is the page", whole.replace(b"/Root 1 0 R", b"/Root 3 0 R"), (TEXT, WARNED, "parse.corrupt"))
    yield Case(
        "previous xref is itself", whole.replace(b"/Root", b"/Prev %d /Root" % whole.rindex(b"xref\n0")), (TEXT, WARNED)
    )
    yield Case("size of a billion", whole.replace(b"/Size 6", b"/Size 999999999"), (TEXT, WARNED, "parse.corrupt"))


def _locked() -> Iterator[Case]:
    for name, method in (("RC4 40", 2), ("RC4 128", 3), ("AES 128", 4), ("AES 256", 5)):
        yield Case(f"{name}, user password", locked(method, "secret"), ("parse.encrypted",))
        yield Case(f"{name}, owner password", locked(method, ""), (TEXT,))
    yield Case("password in Chinese", locked(5, "密码"), ("parse.encrypted",))
    whole = locked(4, "secret")
    yield Case("encrypted and cut", whole[: len(whole) // 2], ("parse.corrupt", "parse.encrypted", "parse.truncated"))


def _trees() -> Iterator[Case]:
    empty = ("parse.corrupt", "parse.no_text")
    yield Case("no pages", raw(pages="/Kids [] /Count 0"), empty)
    yield Case("kids are null", raw(pages="/Kids null /Count 1"), (*empty, WARNED))
    yield Case("kids are themselves", raw(pages="/Kids [2 0 R] /Count 1"), empty)
    yield Case("kids and a loop", raw(pages="/Kids [3 0 R 2 0 R] /Count 2"), (TEXT, WARNED, *empty))
    yield Case("a billion pages", raw(pages="/Kids [3 0 R] /Count 1000000000"), (TEXT, "parse.too_many_pages", *empty))
    yield Case("fewer than no pages", raw(pages="/Kids [3 0 R] /Count -5"), (TEXT, *empty))
    yield Case("one page twice", raw(pages="/Kids [3 0 R 3 0 R] /Count 2"), (TEXT,))
    yield Case("a kid that is missing", raw(pages="/Kids [3 0 R 88 0 R] /Count 2"), (WARNED, TEXT))
    for name, box in (
        ("huge", "[0 0 9999999 9999999]"),
        ("upside down", "[595 842 0 0]"),
        ("empty", "[0 0 0 0]"),
        ("words", "[(a) (b) (c) (d)]"),
        ("beyond all numbers", "[0 0 1e400 1e400]"),
    ):
        yield Case(f"page size {name}", raw(page=f"/MediaBox {box}"), (TEXT, WARNED, "parse.no_text"))
    yield Case("turned by 45 degrees", raw(page="/Rotate 45"), (TEXT,))
    yield Case("a unit of a million", raw(page="/UserUnit 1000000"), (TEXT, "parse.no_text"))


def _streams() -> Iterator[Case]:
    none = ("parse.no_text", "parse.truncated")
    text = b"BT /F1 12 Tf 72 700 Td (" + WORDS.encode() + b") Tj ET"
    yield Case("wrong length", raw(Length="7"), (TEXT, WARNED, *none))
    yield Case("length is a loop", raw(Length="5 0 R"), (TEXT, WARNED, *none))
    yield Case("unknown filter", raw(Filter="/Nonsense"), (TEXT, *none))
    yield Case("flate of noise", raw(b"\x01\x02\x03" * 50, Filter="/FlateDecode"), none)
    yield Case("half a flate stream", raw(zlib.compress(text * 50)[:60], Filter="/FlateDecode"), (TEXT, WARNED, *none))
    yield Case(
        "bomb of 256 MB", raw(bomb(256), Filter="/FlateDecode"), (*none, "parse.bomb", "parse.memory", "parse.timeout")
    )
    nested = raw(bomb(256, 2), Filter="[/FlateDecode /FlateDecode]")
    yield Case("bomb in a bomb", nested, (*none, "parse.bomb", "parse.memory", "parse.timeout"))
    yield Case("a hundred thousand saves", raw(b"q " * 100_000 + text), (TEXT, *none))
    yield Case("restores without saves", raw(b"Q " * 1000 + text), (TEXT,))
    yield Case("operators without operands", raw(b"Tj TJ Tf cm Do re " * 100 + text), (TEXT, *none))
    yield Case("contents missing", raw(page="/Contents 99 0 R"), (TEXT, *none))


def _objects_inside() -> Iterator[Case]:
    none = ("parse.no_text", "parse.page_failed")
    head = "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>"
    form = stream(head, "/X Do")
    uses = "/Resources << /Font << /F1 4 0 R >> /XObject << /X 6 0 R >> >>"
    text = b" BT /F1 12 Tf 72 700 Td (" + WORDS.encode() + b") Tj ET"
    yield Case("a form that draws itself", raw(b"/X Do" + text, page=uses, extra=form), (TEXT, WARNED))
    for name, entries, data in (
        ("of 50,000 by 50,000", "/Width 50000 /Height 50000 /BitsPerComponent 1", "x"),
        ("without a size", "/Width 0 /Height 0 /BitsPerComponent 8", "x"),
        ("JPEG of noise", "/Width 9 /Height 9 /BitsPerComponent 8 /Filter /DCTDecode", "noise"),
        ("JBIG2 of noise", "/Width 9 /Height 9 /BitsPerComponent 1 /Filter /JBIG2Decode", "noise"),
        ("JPEG 2000 of noise", "/Width 9 /Height 9 /Filter /JPXDecode", "noise"),
    ):
        image = stream(f"/Type /XObject /Subtype /Image /ColorSpace /DeviceGray {entries}", data)
        yield Case(f"image {name}", raw(b"/X Do" + text, page=uses, extra=image), (TEXT, WARNED))
        yield Case(f"only an image {name}", raw(b"595 0 0 842 0 0 cm /X Do", page=uses, extra=image), none)
    fonts = "/Resources << /Font << /F1 6 0 R >> >>"
    type3 = (
        "6 0 obj\n<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /Widths [1]"
        " /CharProcs << /a 5 0 R >> /Encoding << /Differences [97 /a] >> /FirstChar 97 /LastChar 97"
        " /Resources << /Font << /F1 6 0 R >> >> >>\nendobj\n"
    )
    yield Case(
        "a glyph that writes itself",
        raw(b"BT /F1 12 Tf 72 700 Td (aaa) Tj ET", page=fonts, extra=type3),
        (TEXT, WARNED, *none, "parse.garbled"),
    )
    yield Case("a font that is missing", raw(page="/Resources << /Font << /F1 99 0 R >> >>"), (TEXT, *none))
    names = "6 0 obj\n<< /Kids [6 0 R] >>\nendobj\n"
    yield Case("attachments in a loop", raw(catalog="/Names << /EmbeddedFiles 6 0 R >>", extra=names), (TEXT,))
    outline = "6 0 obj\n<< /First 7 0 R /Last 7 0 R /Count 1 >>\nendobj\n"
    outline += "7 0 obj\n<< /Title (a) /Parent 6 0 R /Next 7 0 R /Prev 7 0 R >>\nendobj\n"
    yield Case("bookmarks in a loop", raw(catalog="/Outlines 6 0 R", extra=outline), (TEXT,))
    script = "/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>"
    yield Case("a script on opening", raw(catalog=script), (TEXT,))
    yield Case("a program on opening", raw(catalog="/OpenAction << /S /Launch /F (cmd.exe) >>"), (TEXT,))
    wait = raw(
        b"BT /F1 12 Tf 72 700 Td (Please wait... the form is loading) Tj ET", catalog="/AcroForm << /XFA [(a) 4 0 R] >>"
    )
    yield Case("a dynamic form", wait, ("parse.xfa",))


def _others() -> Iterator[Case]:
    whole = raw()
    docx = io.BytesIO()
    import zipfile

    with zipfile.ZipFile(docx, "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    yield Case("no bytes", b"", ("parse.empty",))
    yield Case("a header and no more", b"%PDF-1.7\n", ("parse.corrupt",))
    yield Case("zeros", b"\0" * 4096, ("parse.corrupt", "parse.binary"))
    yield Case("noise", bytes(range(256)) * 16, ("parse.corrupt", "parse.binary"))
    yield Case("plain text", b"Not a PDF at all, only words.", ("parse.mismatch", "parse.corrupt"))
    yield Case("a login page", b"<!DOCTYPE html><html><body>Please log in</body></html>", ("parse.mismatch",))
    yield Case("a picture", b"\x89PNG\r\n\x1a\n" + b"\0" * 64, ("parse.mismatch", "parse.corrupt"))
    yield Case("a Word file", docx.getvalue(), ("parse.mismatch", "parse.corrupt"))
    yield Case("a PDF named as text", whole, (TEXT, "parse.mismatch"), "a.txt")
    yield Case("junk before", b"X-Mail: gateway\r\n" * 150 + whole, (TEXT,))
    yield Case("junk after", whole + b"\0" * 100_000, (TEXT, WARNED))
    yield Case("two in a row", whole + whole, (TEXT, WARNED))
    yield Case("of a version to come", whole.replace(b"%PDF-1.7", b"%PDF-9.9"), (TEXT,))
    yield Case("line ends changed", whole.replace(b"\n", b"\r\n"), (TEXT, WARNED))
