"""What an engine of names must keep to; the one that comes with the project, and another that a site might bring."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from pipelines.adapters.lac import LacNlpEngine, Name
from pipelines.errors import Misconfigured
from pipelines.mask import catalogue
from pipelines.mask.analyzer import NAME_TYPES, RULE_TYPES, analyze, analyze_all
from pipelines.mask.settings import MaskSettings

LINES = ("项目由王小明在北京负责。", "", "没有名字的一行", "会议由李建国主持，\n王小明记录。")


class ListEngine(LacNlpEngine):
    """Knows the names of a list: stands for HanLP or GLiNER in a process of its own."""

    def find(self, text: str) -> Iterator[Name]:
        places = sorted((text.find(known), known) for known in ("王小明", "李建国"))
        return (Name(at, at + len(known), "PERSON") for at, known in places if at >= 0)

    def process_batch(self, texts: Iterable[str], language: str, *_: Any, **__: Any) -> Iterator[tuple[str, Any]]:
        for text in texts:
            yield text, self.process_text(text, language)


ENGINES = ("pipelines.adapters.lac:LacNlpEngine", f"{__name__}:ListEngine")


@pytest.mark.parametrize("engine", ENGINES)
def test_people_come_with_their_places_in_each_text_alone_or_together(engine: str) -> None:
    settings = MaskSettings(engine=engine)
    together = list(analyze_all(LINES, settings))
    assert together == [analyze(text, settings) for text in LINES]
    people = [
        [text[f.start : f.end] for f in found if f.type == "PERSON"]
        for text, found in zip(LINES, together, strict=True)
    ]
    assert people[0] == ["王小明"] and people[1] == people[2] == [] and set(people[3]) == {"李建国", "王小明"}


def test_an_engine_that_is_not_there_is_a_wrong_setting() -> None:
    with pytest.raises(Misconfigured):
        analyze("任意文字", MaskSettings(engine="no.such:Engine"))


def test_the_list_of_what_is_found_is_complete() -> None:
    rows = catalogue(MaskSettings())
    assert {one.type for one in rows} == {*RULE_TYPES, *NAME_TYPES}
    assert {one.operator for one in rows if one.type in RULE_TYPES} == {"replace"}
