"""Personal data in the name of a file, a folder or a sheet is nowhere but in the raw zone."""

from pathlib import Path

from sqlalchemy import select

from pipelines.review.quarantine import requeue
from sql import tables
from tests.flow.conftest import Kb, page

PHONE, CARD, PERSON = "13812345678", "11010519491231002X", "欧阳建国"
SECRETS = (PHONE, CARD, PERSON)


def workbook(path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    sheet.title = f"电话{PHONE}"
    for row in (("项目", "金额"), ("差旅补贴", "三百元"), ("餐费补贴", "一百元")):
        sheet.append(row)
    book.save(path)


def planted(kb: Kb) -> None:
    folder = kb.docs / f"员工 手机{PHONE}"
    folder.mkdir()
    name = f"姓名：{PERSON} 身份证{CARD} 入职登记.md"
    (folder / name).write_text(page("parking", f"姓名：{PERSON}，停车位在东门，请按规定停放车辆。"), encoding="utf-8")
    workbook(folder / "补贴.xlsx")
    (folder / f"坏文件{PHONE}.pdf").write_bytes(b"%PDF-1.7 nothing")
    (folder / f"指向{PHONE}.md").symlink_to("nowhere.md")


def leaks(kb: Kb, printed: str) -> list[str]:
    with kb.app.database.read() as tx:
        rows = [str(tuple(row)) for table in tables.metadata.sorted_tables for row in tx.execute(select(table))]
    files = [one for one in kb.home.rglob("*") if one.is_file() and "raw" not in one.parts]
    stored = [one.read_bytes().decode("utf-8", "replace") for one in files] + [str(one) for one in files]
    index = [str(row) for held in kb.index.rows.values() for row in held.values()]
    escaped = [secret.encode("unicode_escape").decode() for secret in SECRETS]
    return [
        f"{secret} in {place}"
        for place, texts in {"tables": rows, "files": stored, "index": index, "output": [printed]}.items()
        for secret in (*SECRETS, *escaped)
        if any(secret in text for text in texts)
    ]


def test_planted_names_are_found_nowhere_but_in_the_raw_zone(kb: Kb, capfd) -> None:
    planted(kb)
    report = kb.sync()
    print(report.as_json())
    kb.release()
    assert {one["code"] for one in report.rejected_files} == {"parse.corrupt", "scan.unreadable"}
    assert kb.shows("停车位在东门") and kb.shows("差旅补贴")
    captured = capfd.readouterr()
    assert leaks(kb, captured.out + captured.err) == []
    assert all("raw" in one.parts for one in kb.home.rglob("*") if any(secret in str(one) for secret in SECRETS))


def test_such_files_are_known_again_renamed_and_removed(kb: Kb) -> None:
    planted(kb)
    kb.release()
    report = kb.sync().as_json()
    assert (report["files"]["opened"], report["documents"]["new"], report["documents"]["renamed"]) == (0, 0, 0)
    folder = next(kb.docs.glob("员工*"))
    folder.rename(kb.docs / "staff")
    report = kb.sync().as_json()
    assert (report["documents"]["renamed"], report["documents"]["removed"]) == (3, 0)
    with kb.app.database.read() as tx:
        shown = set(tx.execute(select(tables.document.c.uri)).scalars())
    assert {one.split("/")[0] for one in shown if "/" in one} == {"staff"}


def test_a_file_that_keeps_its_name_can_be_parsed_again(kb: Kb) -> None:
    planted(kb)
    kb.release()
    requeue(kb.app, "source", "notes", "another look")
    assert {one["code"] for one in kb.sync().rejected_files} >= {"parse.corrupt"}
