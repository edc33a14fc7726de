"""What contradicts what, text by text."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflict.apart import apart
from pipelines.conflict.compare import compare
from pipelines.conflict.figures import DATE, PERCENT, SCALED
from pipelines.conflict.judge import LIKELY
from pipelines.conflict.subject import subject
from pipelines.conflict.tokens import words

LEAVE = "员工连续工作满一年的，每年享有十天带薪年休假，由部门经理批准，未休的年假可以顺延到次年三月底。"
HOTEL = (
    "A hotel night in Berlin costs at most 120 euros and must be approved by the department manager before the trip."
)
CONTRACT = (
    "甲方：南京云帆新材料有限公司。乙方：{party}。乙方应当在三十日内向甲方支付货款{sum}元，逾期按日加收违约金。"
    "签约人：{who}。"
)

BUDGET = "上海分公司的单笔采购金额达到5万元的，须由采购主管在2024年3月5日以前签批，占全年预算的三成以内。"
PACKAGES = (("airflow.providers.standard", "1.14.1"), ("airflow.providers.common.io", "1.23.0"))
CONFLICTS = {
    "a number": (LEAVE, LEAVE.replace("十天", "十五天"), "number"),
    "a number in another script": (LEAVE, LEAVE.replace("十天", "15 天"), "number"),
    "who approves": (LEAVE, LEAVE.replace("部门经理", "总监"), "actor"),
    "may and may not": (LEAVE, LEAVE.replace("可以顺延", "不得顺延"), "polarity"),
    "an amount in English": (HOTEL, HOTEL.replace("120", "95"), "number"),
    "who approves in English": (HOTEL, HOTEL.replace("manager", "director"), "actor"),
    "a negation in English": (HOTEL, HOTEL.replace("must be", "must not be"), "polarity"),
    "who approves, by an office": (LEAVE, LEAVE.replace("部门经理", "分管副总"), "actor"),
    "a negation in one word": (LEAVE, LEAVE.replace("的年假可以顺延", "的年假不会顺延"), "polarity"),
    "a date": (
        "The old canteen closes on March 3, 2024 and the staff moves to the new building.",
        "The old canteen closes on 5 March 2024 and the staff moves to the new building.",
        "date",
    ),
    "a number of tens of thousands": (BUDGET, BUDGET.replace("5万元", "50万元"), "number"),
    "a unit": ("Each cache entry holds at most 8 MiB of data", "Each cache entry holds at most 8 KiB of data", "unit"),
    "a labelled value": (
        "是否启用该功能由运维人员决定。默认值：`4`",
        "是否启用该功能由运维人员决定。默认值：`8`。在旧的发行版中默认值：`4`",
        "number",
    ),
}
AGREED = {
    "punctuation and width": (LEAVE, LEAVE.replace("，", ",").replace("。", " . ")),
    "another script of numbers": (LEAVE, LEAVE.replace("十天", "10天")),
    "a number with its scale": (BUDGET, BUDGET.replace("5万元", "50,000元")),
    "a round price": (HOTEL, HOTEL.replace("120 euros", "120.00 euros")),
    "a number with its scale in English": (HOTEL.replace("120", "120,000"), HOTEL.replace("120", "120 thousand")),
    "a share": (LEAVE.replace("十天", "30%的"), LEAVE.replace("十天", "百分之三十的")),
    "a date in figures": (BUDGET, BUDGET.replace("2024年3月5日", "2024-03-05")),
    "a date in another order": (HOTEL + " Since March 3, 2024.", HOTEL + " Since 3 Mar 2024."),
    "another place with its own values": (BUDGET, BUDGET.replace("上海", "北京").replace("5万", "8万")),
    "another product with its own values": (
        "Visitors may try the tool Atlas for 30 days and pay 200 dollars a month after that.",
        "Visitors may try the tool Cygnus for 45 days and pay 300 dollars a month after that.",
    ),
    "another numbering": (f"第十二条 {LEAVE}", f"第十五条 {LEAVE}"),
    "an added sentence": (LEAVE, f"{LEAVE}法定节假日不计入年休假的假期，由人事部门另行通知全体员工。"),
    "an added condition": (HOTEL, HOTEL.replace("before the trip", "in writing and in good time before the trip")),
    "another party of one template": (
        CONTRACT.format(party="成都康华电子有限责任公司", sum="346,000", who="王建国"),
        CONTRACT.format(party="合肥星图贸易集团有限公司", sum="381,150", who="李晓燕"),
    ),
    "another subject": (LEAVE, "出差住宿标准由财务部门每年公布一次，超过标准的费用由本人承担，特殊情况须事先说明。"),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_another_value_in_the_same_slot_is_a_conflict(name):
    a, b, kind = CONFLICTS[name]
    for one, other in ((a, b), (b, a)):
        found = compare(one, other)
        assert (found.outcome, kind in {place.kind for place in found.differences}) == ("conflict", True)


def test_rewritten_prose_without_a_value_is_left_to_a_language_model():
    one = "出差人员应当妥善保管票据原件，回到公司以后再整理并统一交给财务部门审核入账。"
    other = "出差人员应当妥善保管票据原件，返程途中先行拍照上传，再统一交给财务部门审核入账。"
    found = compare(one, other)
    assert {place.kind for place in found.differences} == {"text"}
    assert (found.outcome, LIKELY <= found.score < 0.5) == ("update", True)


@pytest.mark.parametrize("name", AGREED)
def test_what_is_merely_added_renumbered_or_about_something_else_is_none(name):
    a, b = AGREED[name]
    assert compare(a, b).outcome != "conflict"
    assert compare(b, a).outcome != "conflict"


@pytest.mark.parametrize(
    ("headings", "yes"),
    [
        (("上海 差旅标准", "北京 差旅标准"), True),
        (("Berlin travel", "Lisbon travel"), True),
        (("差旅标准2023", "差旅标准2024"), False),
        (("Leave rules", "Leave policy"), False),
        (("Annual leave", "Yearly leave"), False),
        (("差旅标准", "差旅标准 总部"), False),
        (("差旅标准", "差旅标准"), False),
    ],
)
def test_another_name_in_the_heading_is_another_thing_but_an_edition_is_not(headings, yes):
    texts = ("Yearly or annual leave lasts 30 days.", "Yearly or annual leave lasts 25 days.")
    assert apart(compare(*texts), texts, headings) is yes


def test_readmes_of_two_packages_do_not_contradict_each_other():
    texts = tuple(f"Package {one}\n\nAll classes are in the {one} python package, release {n}." for one, n in PACKAGES)
    headings = tuple(one.replace(".", "_") for one, _ in PACKAGES)
    assert compare(*texts).outcome == "conflict"
    assert apart(compare(*texts), texts, headings)
    versions = tuple(f"The minimum supported version of the package is release {n}." for _, n in PACKAGES)
    assert apart(compare(*versions), versions, headings)


@given(
    st.sampled_from([DATE, SCALED, PERCENT]).flatmap(
        lambda one: st.from_regex(re.compile(one, re.ASCII | re.IGNORECASE), fullmatch=True)
    )
)
def test_every_written_figure_has_a_value(written):
    assert words(written.lower())


TEXTS = st.text(
    "日内十五天不得可以须经部门经理 批准。，120 euros must not be paid by the manager:\n（一）第条`\u200b", max_size=60
)


@given(TEXTS, TEXTS)
def test_places_lie_inside_their_texts_and_both_directions_agree(a, b):
    found, back = compare(a, b), compare(b, a)
    assert (found.outcome, found.similarity) == (back.outcome, back.similarity) or found.differences
    for place in found.differences:
        assert 0 <= place.a_start <= place.a_end <= len(a)
        assert 0 <= place.b_start <= place.b_end <= len(b)


@given(TEXTS)
def test_a_text_never_contradicts_itself_and_its_words_stand_where_they_say(text):
    assert compare(text, text).outcome in ("same", "unrelated")
    rows = words(text)
    assert all(one.start < one.end <= len(text) for one in rows)
    assert all(one.end <= other.start for one, other in pairwise(rows))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("Rules", ["1 Travel", "1.2 Hotel limit"]), ("Guide", ["第三章 Hotel  limit"]), True),
        (("差旅费管理办法（2023版）", []), ("差旅费管理办法 2024-05", []), False),
        (("Travel policy 2023", []), ("Travel policy v2.1", []), True),
        (("Rules", ["Hotel limit"]), ("Rules", ["Train tickets"]), False),
    ],
)
def test_the_subject_is_the_innermost_heading_without_its_number(one, other, same):
    assert (subject(*one) == subject(*other)) == same
