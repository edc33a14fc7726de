"""Pictures of the pages for the README: `make screenshots`. The sample knowledge base, the real pages, Chromium.

Two releases of the sample are published, and a third stands in review.
"""

import io
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import select

from pipelines.app import App
from pipelines.ask import reader, search
from pipelines.flow import sync
from pipelines.migrate import migrate
from pipelines.publish.publish import publish
from pipelines.query_log import feedback
from pipelines.report.quality import measure, publish_pages
from pipelines.review.decide import approve
from pipelines.standalone import WHO
from pipelines.wiring import wire
from sluice_ui.host import Account
from sql import tables
from tests.fakes_host import ACCOUNTS, FakeHost
from tests.sample.make_sample import make

OUT = Path(__file__).parent / "screenshots"
SIZE = {"width": 1366, "height": 820}
COLOURS = 96
PEOPLE = {
    **ACCOUNTS,
    "engineer": Account("engineer", "engineer", ("op",)),
    "auditor": Account("auditor", "auditor", ("viewer",)),
}
OTHERS = {
    "reviewer": {"lead": "/releases/3/review?group=low"},
    "engineer": {"engineer": "/"},
    "auditor": {"auditor": "/quality"},
}
"""What the others see: (name of the picture, page) by person."""
EDITS = {"wiki/数据库备份.md": (("35天", "90天"), ("4小时", "2小时"))}
QUESTIONS = ("年休假有几天", "how long are visitors' parking permits valid", "备份保留多少天")
"""The answer to the last one was called wrong."""
SECOND = {"handbook/bicycles.md": "# Bicycles\n\nBicycles stand in the yard. The gate is locked at night.\n"}
NEW = {"handbook/remote-work.md": "# Remote work\n\nWork from home twice a week.\n\n## Help\n\nAsk 13812345678.\n"}


def main() -> None:
    if not shutil.which("chromium"):
        sys.exit("there is no chromium on this machine")
    with tempfile.TemporaryDirectory() as folder, _served(Path(folder)) as (address, app):
        OUT.mkdir(exist_ok=True)
        for language, locale in (("en", "en-US"), ("zh", "zh-CN")):
            for user, paths in {"admin": _paths(app), **OTHERS}.items():
                _take(address, user, locale, {f"{name}-{language}": path for name, path in paths.items()})


def _paths(app: App) -> dict[str, str]:
    travel, backup = _document(app, "差旅报销制度-2024%"), _document(app, "数据库备份%")
    with app.database.read() as tx:
        conflict = tx.execute(select(tables.conflict.c.id)).scalars().first()
        question = tx.execute(select(tables.question.c.id).order_by(tables.question.c.times.desc())).scalars().first()
    return {
        "overview": "/",
        "releases": "/releases",
        "review": "/releases/3/review",
        "page": f"/releases/1/review/{travel}?all=1",
        "preview": "/releases/3/preview?q=备份保留多少天",
        "documents": "/documents",
        "document": f"/documents/{backup}",
        "forget": f"/documents/{backup}/forget/document/{backup}",
        "quarantine": "/quarantine",
        "conflicts": "/conflicts",
        "conflict": f"/conflicts/{conflict}",
        "questions": "/questions",
        "question": f"/questions/{question}",
        "quality": "/quality",
        "audit": "/audit?verify=1",
    }


def _document(app: App, uri: str) -> str:
    d = tables.document
    with app.database.read() as tx:
        return str(tx.execute(select(d.c.id).where(d.c.uri.like(uri))).scalar_one())


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, App]]:
    """(address, application) of the pages over a fresh sample."""
    import uvicorn

    from pipelines.adapters.milvus_local import stop_local_server
    from sluice_ui.app import create_app

    os.environ |= {**WHO, "SLUICE_HOME": str(folder / "home"), "SLUICE_SOURCES": str(folder / "kb" / "sources.yaml")}
    make(folder / "kb")
    app = wire(actor="airflow")
    migrate(app)
    _grow(app, folder / "kb")
    server = uvicorn.Server(uvicorn.Config(create_app(FakeHost(PEOPLE), lambda: app), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.1)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}", app
    finally:
        server.should_exit = True
        thread.join()
        stop_local_server((folder / "home").resolve())
        app.database.dispose()


def _grow(app: App, kb: Path) -> None:
    """Release 1 was live, release 2 is, release 3 stands in review; readers have asked, and some found nothing."""
    _publish(app)
    _write(kb, SECOND)
    _publish(app)
    staff = reader("chen", "staff,engineering")
    for question in QUESTIONS:
        asked = search(app, question, staff, None, 5, False)["query"]
    feedback(app, asked, "down", "chen")
    for name, changes in EDITS.items():
        text = (kb / name).read_text(encoding="utf-8")
        for old, new in changes:
            text = text.replace(old, new)
        (kb / name).write_text(text, encoding="utf-8")
    _write(kb, NEW)
    (kb / "wiki" / "vpn.md").unlink()
    sync(app)


def _write(kb: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (kb / name).write_text(text, encoding="utf-8")


def _publish(app: App) -> None:
    number = sync(app).built.number
    assert number is not None
    approve(replace(app, actor="admin"), number, "looked at every document")
    publish(app, number)
    publish_pages(app, measure(app, number))


def _take(address: str, user: str, locale: str, pages: dict[str, str]) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        headers = {"x-user": user}
        context = browser.new_context(viewport=SIZE, locale=locale, extra_http_headers=headers)
        page = context.new_page()
        page.set_default_timeout(120_000)
        for name, path in pages.items():
            page.goto(address + path)
            page.wait_for_load_state("networkidle")
            (OUT / f"{name}.png").write_bytes(_small(page.screenshot()))
        browser.close()


def _small(png: bytes) -> bytes:
    from PIL import Image

    image: Any = Image.open(io.BytesIO(png)).convert("RGB")
    out = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    main()
