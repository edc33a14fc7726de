"""Files inside a file are documents of their own, and come and go with it."""

from collections.abc import Callable
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest
from sqlalchemy import select

from pipelines.library import Reader
from pipelines.parse import sink
from pipelines.parse.dispatch import parse_file
from pipelines.publish.forget import forget
from pipelines.publish.rollback import rollback_document
from pipelines.report.documents import whole
from pipelines.report.scope import Scope
from pipelines.review.quarantine import quarantine, restore
from schemas.document import Document
from sql import tables
from tests.flow.conftest import Kb

Make = Callable[[Path, dict[str, bytes]], None]


def a_pdf(path: Path, files: dict[str, bytes]) -> None:
    import pymupdf

    with pymupdf.open() as pdf:
        pdf.new_page().insert_text((72, 100), "The contract holds; see the files that are attached to it.")
        for name, data in files.items():
            pdf.embfile_add(name, data, filename=name)
        pdf.save(path)


def a_message(path: Path, files: dict[str, bytes]) -> None:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "The contract", "a@example.com", "b@example.com"
    message.set_content("The contract holds; see the files that are attached to it.")
    for name, data in files.items():
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    path.write_bytes(message.as_bytes())


MAKERS: dict[str, Make] = {"contract.pdf": a_pdf, "contract.eml": a_message}
ANNEX = b"# Annex\n\nThe penguin clause of the annex names the price of herring.\n"


@pytest.fixture
def house(kb: Kb) -> Kb:
    """Without the usual topics; parsed files keep what is inside of them."""
    for path in kb.docs.iterdir():
        path.unlink()
    kb.write("leave", "Annual leave is twenty five days for everybody.")

    def parse(path: Path, name: str, folder: Path) -> Document:
        with sink.into(folder):
            return parse_file(path, name=name, ocr=None, settings=kb.app.settings.parse)

    return Kb(kb.home, kb.docs, kb.index, kb.embedder, replace(kb.app, parse=parse))


def rows(kb: Kb) -> dict[str, bool]:
    """Of each document whether it is there, children by their parents."""
    d = tables.document
    with kb.app.database.read() as tx:
        return {row.id: row.present for row in tx.execute(select(d).where(d.c.parent.is_not(None)))}


@pytest.mark.parametrize("name", MAKERS)
def test_an_attachment_is_found_leaves_and_comes_back_with_its_file(house: Kb, name: str) -> None:
    make = MAKERS[name]
    make(house.docs / name, {"annex.md": ANNEX})
    house.release()
    assert house.shows("penguin clause")
    make(house.docs / name, {})
    house.release()
    assert not house.shows("penguin clause")
    assert house.shows("The contract holds")
    make(house.docs / name, {"annex.md": ANNEX})
    house.release()
    assert house.shows("penguin clause")
    (house.docs / name).unlink()
    house.release()
    assert not house.shows("penguin clause")
    assert set(rows(house).values()) == {False}


def test_a_scan_without_changes_neither_misses_children_nor_makes_them_anew(house: Kb) -> None:
    a_pdf(house.docs / "contract.pdf", {"annex.md": ANNEX})
    house.release()
    report = house.sync()
    assert report.built.number is None
    assert set(rows(house).values()) == {True}


def test_files_in_files_in_files_stop_at_the_second_depth(house: Kb, tmp_path: Path) -> None:
    data = ANNEX
    for level in range(4):
        inner = tmp_path / f"inner{level}.eml"
        a_message(inner, {f"part{level}.md": ANNEX.replace(b"penguin", b"whale%d" % level), "inner.eml": data})
        data = inner.read_bytes()
    (house.docs / "outer.eml").write_bytes(data)
    house.release()
    assert house.shows("whale3 clause") and house.shows("whale2 clause")
    assert not house.shows("whale1 clause")


def test_to_forget_a_file_is_to_forget_what_is_inside(house: Kb) -> None:
    a_pdf(house.docs / "contract.pdf", {"annex.md": ANNEX})
    house.release()
    parent = house.document("The contract holds")
    forget(house.app, "document", parent, "asked for by its owner")
    assert not house.shows("penguin clause")
    assert rows(house) == {}


def test_one_damaged_attachment_is_rejected_alone(house: Kb) -> None:
    a_pdf(house.docs / "contract.pdf", {"annex.md": ANNEX, "broken.pdf": b"%PDF-1.7 nothing"})
    report = house.sync()
    assert [one["code"] for one in report.rejected_files] == ["parse.corrupt"]
    assert report.built.number is not None


def test_what_is_withheld_takes_its_files_along_also_those_that_come_later_and_gives_them_back(house: Kb) -> None:
    a_pdf(house.docs / "contract.pdf", {"annex.md": ANNEX})
    house.release()
    parent, child = house.document("The contract holds"), house.document("penguin clause")
    assert quarantine(house.app, "document", parent, "a doubt").chunks == 2
    assert not house.shows("penguin clause")
    a_pdf(house.docs / "contract.pdf", {"annex.md": ANNEX, "more.md": ANNEX.replace(b"penguin", b"walrus")})
    house.release()
    assert not house.shows("walrus clause")
    quarantine(house.app, "document", child, "a doubt of its own")
    restore(house.app, "document", parent, "no doubt")
    assert house.shows("walrus clause") and house.shows("The contract holds")
    assert not house.shows("penguin clause"), "its own entry stands"
    with house.app.database.read() as tx:
        scope = Scope(house.app.kb, (), ("notes",), (), Reader())
        found = whole(tx, scope, parent)
        assert found is not None and len(found.inside) == 2 and found.holder is None
        inner = whole(tx, scope, child)
        assert inner is not None and inner.holder == (parent, found.title)


def test_a_withheld_version_takes_its_files_along(house: Kb) -> None:
    a_pdf(house.docs / "contract.pdf", {"annex.md": ANNEX})
    house.release()
    (hit,) = [one for one in house.hits("The contract holds") if "contract" in one["text"]]
    quarantine(house.app, "version", hit["version"], "a doubt")
    assert not house.shows("penguin clause")
    restore(house.app, "version", hit["version"], "no doubt")
    assert house.shows("penguin clause")


def test_a_document_that_goes_back_takes_the_files_of_that_version_along(house: Kb) -> None:
    a_pdf(house.docs / "contract.pdf", {"annex.md": ANNEX, "old.md": ANNEX.replace(b"penguin", b"walrus")})
    house.release()
    (hit,) = [one for one in house.hits("The contract holds") if "contract" in one["text"]]
    changed = {"annex.md": ANNEX.replace(b"herring", b"salmon"), "new.md": ANNEX.replace(b"penguin", b"auk")}
    a_pdf(house.docs / "contract.pdf", changed)
    house.release()
    assert house.shows("price of salmon") and house.shows("auk clause") and not house.shows("walrus clause")
    rollback_document(house.app, hit["document"], hit["version"], "the new one was not signed")
    assert house.shows("price of herring") and house.shows("walrus clause")
    assert not house.shows("price of salmon") and not house.shows("auk clause")
    assert house.sync().built.number is None, "and a sync leaves it so"
