"""From what was typed to what is asked: each step adds a wording, none takes the original away."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.retrieve.identifiers import identifiers, share_held
from pipelines.retrieve.periods import EPOCH, relative_period, spelled
from pipelines.retrieve.settings import RetrieveSettings, Route
from pipelines.retrieve.understand import Plan, understand
from schemas.search import Query
from tests.fakes import FakeLanguageModel

NOW = datetime(2026, 1, 15, tzinfo=UTC).timestamp()
TODAY = date(2026, 1, 15)
PLAIN = RetrieveSettings()


def ask(text: str, settings: RetrieveSettings = PLAIN, **more) -> dict[str, Query]:
    """By origin."""
    return {one.origin: one for one in understand(text, settings, lambda: NOW, **more).queries}


@pytest.mark.parametrize(
    ("history", "text", "complete"),
    [
        (["差旅标准是什么"], "那住宿呢", "差旅标准是什么 那住宿呢"),
        (["年假有几天", "差旅标准是什么", "那住宿呢"], "上海呢？", "差旅标准是什么 那住宿呢 上海呢？"),
        (["What is the VPN server?"], "and what is its port?", "What is the VPN server? and what is its port?"),
        (["信息安全办法有哪些要求"], "该办法的适用范围", "信息安全办法有哪些要求 该办法的适用范围"),
    ],
)
def test_a_question_that_leans_on_earlier_ones_is_completed(history, text, complete) -> None:
    assert ask(text, history=history)["history"].text == complete


@pytest.mark.parametrize("text", ["差旅报销期限是多少天？", "How long are invoices kept?"])
def test_a_question_that_stands_alone_is_left_alone(text) -> None:
    assert "history" not in ask(text, history=["年假有几天"])


def test_only_the_last_turns_count() -> None:
    history = ["差旅标准是什么", *["那住宿呢"] * 4]
    assert "差旅" not in ask("上海呢", history=history)["history"].text


@pytest.mark.parametrize(
    ("text", "phrase", "first", "last", "written"),
    [
        ("上个月的报销", "上个月", (2025, 12, 1), (2025, 12, 31), "2025年12月"),
        ("去年的营收", "去年", (2025, 1, 1), (2025, 12, 31), "2025年"),
        ("sales last month", "last month", (2025, 12, 1), (2025, 12, 31), "2025-12"),
        ("last quarter results", "last quarter", (2025, 10, 1), (2025, 12, 31), "Q4 2025"),
        ("上季度的业绩", "上季度", (2025, 10, 1), (2025, 12, 31), "2025年第四季度"),
        ("上周的会议", "上周", (2026, 1, 5), (2026, 1, 11), "2026年1月5日至2026年1月11日"),
        ("最近三天的告警", "最近三天", (2026, 1, 12), (2026, 1, 15), "2026年1月12日至2026年1月15日"),
        ("past 2 weeks", "past 2 weeks", (2026, 1, 1), (2026, 1, 15), "2026-01-01 to 2026-01-15"),
        ("yesterday's backup", "yesterday", (2026, 1, 14), (2026, 1, 14), "2026-01-14"),
    ],
)
def test_relative_time_names_days(text, phrase, first, last, written) -> None:
    assert relative_period(text, TODAY) == (phrase, date(*first), date(*last))
    assert spelled(phrase, date(*first), date(*last)) == written


@given(st.dates(date(1990, 1, 1), date(2100, 1, 1)), st.sampled_from(["上个月", "上季度", "去年", "last week", "本月"]))
@settings(max_examples=100, deadline=None)
def test_a_period_is_whole_and_in_order(today, phrase) -> None:
    found = relative_period(phrase, today)
    assert found and found[1] <= found[2]


def test_relative_time_is_a_filter_of_its_own_wording_and_the_original_has_none() -> None:
    found = ask("上个月的报销")
    assert found["original"].dated_from is None
    assert found["dated"].dated_from == (date(2025, 12, 1) - EPOCH).days
    assert found["dated"].text == found["relative time"].text if "relative time" in found else True


def test_synonyms_work_in_both_directions() -> None:
    settings_ = RetrieveSettings(synonyms={"笔记本": ("手提电脑", "laptop")})
    assert ask("手提电脑多久更换", settings_)["synonyms"].text == "手提电脑多久更换 笔记本 laptop"


def test_a_question_is_routed_by_rule_to_sources_that_the_reader_has() -> None:
    settings_ = RetrieveSettings(routes=(Route(words=("报销",), sources=("policies", "secret")),))
    assert ask("报销期限", settings_, sources=("policies", "wiki"))["routing"].sources == ("policies",)
    assert "routing" not in ask("报销期限", settings_, sources=("wiki",))
    assert "routing" not in ask(
        "报销期限", settings_.model_copy(update={"routing": "off"}), sources=("policies", "wiki")
    )


def test_one_call_of_the_model_gives_wording_parts_passage_and_route() -> None:
    plan = Plan(query="laptop lease", passage="Leased for 4 years.", questions=("a?", "b?"), sources=("it", "nowhere"))
    model = FakeLanguageModel({"understand": lambda _: plan})
    every = RetrieveSettings(hyde=True, routing="model")
    found = understand("q", every, lambda: NOW, llm=model, sources=("it", "hr")).queries
    assert [one.origin for one in found] == [
        "original",
        "model",
        "hypothetical",
        "sub-question",
        "sub-question",
        "routing",
    ]
    assert found[-1].sources == ("it",)
    assert len(model.asked) == 1
    none = RetrieveSettings(rewrite=False, sub_questions=False)
    assert [one.origin for one in understand("q", none, lambda: NOW, llm=model).queries] == ["original"]
    assert len(model.asked) == 1


def test_a_model_that_fails_costs_nothing() -> None:
    assert list(ask("q", llm=FakeLanguageModel({}))) == ["original"]


@given(st.text(min_size=1).filter(str.strip))
@settings(max_examples=100, deadline=None)
def test_the_original_always_comes_first_and_unchanged(text) -> None:
    assert understand(text, PLAIN, lambda: NOW, ["差旅标准"]).queries[0] == Query(text=text, origin="original")


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("2024年的差旅标准", ("2024",)),
        ("GB/T 3620.1-2016 的范围", ("gb/t3620.1-2016",)),
        ("财发〔2024〕12号说了什么", ("财发202412号",)),
        ("升级到 v3.3.2 会怎样", ("v3.3.2",)),
        ("What is error 619?", ("error619",)),
        ("in 2024 and 2023", ("2024", "2023")),
        ("2024年4月1日起施行", ("2024-4-1",)),
        ("第十二条规定", ("第十二条",)),
        ("有几种假期", ()),
        ("top 10 customers", ()),
    ],
)
def test_identifiers_of_a_question(question, wanted) -> None:
    assert identifiers(question) == wanted


@pytest.mark.parametrize(
    ("question", "text", "share"),
    [
        ("2024年", "差旅制度（2024年版）", 1.0),
        ("2024年", "编号20241", 0.0),
        ("GB/T 3620.1", "依据 GB/T 3620.1 执行", 1.0),
        ("GB/T 3620.1", "依据 GB/T 3620.12 执行", 0.0),
        ("v3.3", "since v3.3.2", 0.0),
        ("2024-04-01", "自2024年4月1日起", 1.0),
        ("error 619 in 2024", "error 619", 0.5),
    ],
)
def test_an_identifier_is_held_as_it_is_or_not_at_all(question, text, share) -> None:
    assert share_held(identifiers(question), text) == share
