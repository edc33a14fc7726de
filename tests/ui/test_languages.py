"""Every text of every page has its Chinese, and no Chinese is left over."""

import json
import re
from pathlib import Path
from typing import get_args

from pipelines.lifecycle import RELEASE_MOVES, VERSION_MOVES
from schemas.source import Risk
from sluice_ui.i18n import Translator

UI = Path(__file__).resolve().parents[2] / "plugins" / "sluice_ui"
KNOWN = json.loads((UI / "locale" / "zh.json").read_text(encoding="utf-8"))
CALL = re.compile(r'(?<![\w.])(?:_|page\.say\.text)\(\s*"((?:[^"\\]|\\.)*)"|(?<![\w.])_\(\s*\'([^\']*)\'')
COUNT = re.compile(r'n_\(\s*"([^"]*)",\s*"([^"]*)"')
TITLE = re.compile(r'Entry\("[^"]*", "[^"]*", "([^"]*)"')


def _texts() -> set[str]:
    found: set[str] = set()
    for path in [*UI.rglob("*.html"), *UI.rglob("*.py")]:
        source = path.read_text(encoding="utf-8")
        found |= {one or other for one, other in CALL.findall(source)}
        found |= {text for pair in COUNT.findall(source) for text in pair}
        found |= set(TITLE.findall(source))
    return found


def test_every_text_of_the_pages_is_in_chinese_too() -> None:
    assert sorted(_texts() - KNOWN.keys()) == []


def test_every_state_and_risk_has_a_chinese_name() -> None:
    words = {*RELEASE_MOVES, *VERSION_MOVES, *get_args(Risk)}
    assert sorted(words - KNOWN.keys()) == []


def test_both_languages_have_the_same_places_for_values() -> None:
    place = re.compile(r"\{\w+\}")
    assert [k for k, v in KNOWN.items() if set(place.findall(k)) != set(place.findall(v))] == []


def test_a_word_that_is_not_known_is_shown_as_it_is() -> None:
    assert Translator("zh").name("some_new_risk") == "some new risk"


def test_what_the_machine_notes_is_said_in_chinese_and_what_people_write_is_left_alone() -> None:
    zh, en = Translator("zh"), Translator("en")
    assert zh.said("a file of 132 bytes") == "132 字节的文件"
    assert zh.said("parse.encrypted: the file asks for a password") == "parse.encrypted: 文件需要密码。"
    assert zh.why("review.declined", "wrong figure") == "审核人否决了此变更。 wrong figure"
    for text in ("wrong figure of {n} pages", "from 3 to 5 days", "parse.encrypted: odd"):
        assert en.said(text) == text
        assert zh.said(text).endswith(text.partition(": ")[2] or text)
