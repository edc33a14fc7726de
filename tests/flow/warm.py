"""Importing this takes one document through the whole road, so that processes forked afterwards find models loaded."""

import tempfile
from pathlib import Path

from pipelines.migrate import migrate
from tests.fakes import FakeEmbedder
from tests.fakes_index import FakeIndex
from tests.flow.conftest import SOURCES, TOPICS, open_kb

with tempfile.TemporaryDirectory() as _folder:
    _root = Path(_folder)
    (_root / "docs").mkdir()
    (_root / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    _kb = open_kb(_root / "home", _root / "docs", FakeIndex(), FakeEmbedder())
    migrate(_kb.app)
    _kb.write("leave", *TOPICS["leave"])
    _kb.release()
    _kb.texts()
    _kb.app.database.dispose()
