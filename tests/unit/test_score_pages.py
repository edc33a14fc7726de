"""Shapes, damage, noise of wikis, and rules on trial."""

import pytest

from pipelines.score import effects, page_signals, score_chunk
from pipelines.score.noise import scanned
from pipelines.score.settings import ScoreSettings
from pipelines.score.shape import shape
from schemas.chunk import MaskedChunk
from schemas.facts import QualityScore

PROSE = "本办法适用于在境内从事数据处理活动的单位和个人，其应当建立数据安全管理制度，并对处理活动负责。"
SCANNED = "第三口栟条 刑亊案蟘转为行■^件办理口，~惛`件办怴玿程中收|的啸据材料，哏以作为行政案寪的证据使槃。"


def scored(text: str, settings: ScoreSettings, **page: float) -> QualityScore:
    chunk = MaskedChunk(id="0" * 32, ordinal=0, kind="text", text=text, content_hash="")
    return score_chunk(chunk, authority="L3", settings=settings, page=page)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("```bash\nmake install\n```", "code"),
        ("def add(a, b):\n    return a + b", "code"),
        ("SELECT name\nFROM users\nWHERE id = 1;", "code"),
        ("server:\n  port: 8080\n  host: 'localhost'", "code"),
        ("$ docker compose up -d\n$ curl localhost:8080/health", "code"),
        ("| 型号 | 电压 |\n|---|---|\n| A1 | 12 |\n| A2 | 24 |", "table"),
        ("如何重置密码？\n点击登录页的“忘记密码”。", "faq"),
        ("Q: How long does it take? A: About a day.", "faq"),
        (PROSE, None),
        ("第一条 为了规范管理；\n第二条 本办法所称数据，是指记录；\n第三条 从事数据处理活动的，应当遵守法律。", None),
        ("- [如何扩容？](a.md)\n- [如何备份？](b.md)", None),
    ],
)
def test_a_text_shows_what_it_is(text: str, kind: str | None) -> None:
    assert shape(text) == kind


def test_a_bad_scan_is_held_back_and_sound_texts_are_not() -> None:
    assert scored(SCANNED, ScoreSettings()).band != "index"
    for text in (
        PROSE,
        "之乎者也，天地玄黄，宇宙洪荒，日月盈昃，辰宿列张，寒来暑往，秋收冬藏。",
        "羧酸与醇脱水生成酯，苯环上的氢被卤素取代，得到卤代苯，后者再水解为酚。",
    ):
        assert scanned(text) == 0


@pytest.mark.parametrize(
    ("signal", "title", "uri", "texts"),
    [
        ("draft", "数据分级办法（草稿）", "wiki/a.md", (PROSE,)),
        ("draft", "说明", "wiki/a.md", ("TODO\n待补充",)),
        ("template", "采购申请模板", "wiki/t.md", ("申请人：____\n部门：____",)),
        ("outdated", "办法", "wiki/old/办法.md", (PROSE,)),
        ("navigation", "首页", "wiki/index.md", ("\n".join(f"- [第{i}页的标题](p{i}.md)" for i in range(9)),)),
        ("schema_dump", "api", "api.json", ('{"User": {\n' + '"type": "object",\n"properties": {\n' * 8 + "}}",)),
    ],
)
def test_noise_of_a_wiki_is_seen(signal: str, title: str, uri: str, texts: tuple[str, ...]) -> None:
    assert page_signals(title, uri, texts)[signal] > 0.3
    assert page_signals("数据安全管理办法", "wiki/办法.md", (PROSE,))[signal] == 0


def test_a_rule_on_trial_is_written_and_changes_nothing() -> None:
    page = {"draft": 1.0, "template": 1.0}
    acting = scored(PROSE, ScoreSettings(trial=()), **page)
    trial = scored(PROSE, ScoreSettings(trial=("draft", "template")), **page)
    assert trial.score == scored(PROSE, ScoreSettings()).score > acting.score
    assert {one.name for one in trial.shadow} == {"draft", "template"}
    assert not {one.name for one in trial.signals} & {"draft", "template"}


def test_the_report_compares_what_rules_did_and_those_on_trial_would_have_done() -> None:
    settings = ScoreSettings(trial=("draft",), index_from=0.75, low_from=0.5)
    made = effects([scored(PROSE, settings, draft=value, outdated=1.0) for value in (0.0, 1.0, 1.0)], settings)
    shown = {one.rule: (one.acting, one.hits, one.moved) for one in made}
    assert shown["draft"] == (False, 2, {"low>quarantine": 2}) and made[-1].rule == "draft"
    assert shown["outdated"] == (True, 3, {"index>low": 3}) and shown["links"] == (True, 0, {})
