"""The mask layer: what is found, what stands in its place, and that nothing is passed on raw."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import Code, Rejected
from pipelines.mask import leaks, mask_query, mask_with_vault, seal, try_mask, unseal
from pipelines.mask.checks import iban, id_card, luhn, uscc
from pipelines.mask.fold import fold
from pipelines.mask.html import put_back, visible
from pipelines.mask.rules import find
from pipelines.mask.settings import MaskSettings
from schemas.chunk import Chunk, Masked
from schemas.source import MaskOperator

KEY = b"a key of the knowledge base"
RULES_ONLY = MaskSettings(names=False)


def masked(*texts: str, operator: MaskOperator = "replace", key: bytes = KEY, html: str | None = None) -> Masked:
    chunks = [
        Chunk(id=f"{i:032x}", ordinal=i, kind="text", text=text, html=html, section=("联系人：陈晓明",))
        for i, text in enumerate(texts)
    ]
    return mask_with_vault(
        title="简历-陈晓明",
        uri="人事/陈晓明_13800138000.docx",
        metadata={"author": "Li Lei", "note": "电话13800138000"},
        language="zh",
        chunks=chunks,
        policy={"PERSON": operator, "PHONE": operator},
        settings=RULES_ONLY,
        key=key,
    )[0]


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("手机１３８００１３８０００。", "１３８００１３８０００", "PHONE"),
        ("电话13800\n138000", "13800\n138000", "PHONE"),
        ("打幺三八零零幺三八零零零找我", "幺三八零零幺三八零零零", "PHONE"),
        ("138\u200b0013\u200b8000", "138\u200b0013\u200b8000", "PHONE"),
        ("传真 0571-5723 8497 转 12", "0571-5723 8497 转 12", "LANDLINE"),
        ("证件110105 19491231 002X", "110105 19491231 002X", "ID_CARD"),
        ("卡号4111 1111 1111 1111", "4111 1111 1111 1111", "BANK_CARD"),
        ("IBAN GB82 WEST 1234 5698 7654 32.", "GB82 WEST 1234 5698 7654 32", "IBAN"),
        ("护照号码：E12345678", "E12345678", "PASSPORT"),
        ("车牌京A·12345停放", "京A·12345", "PLATE"),
        ("写信到a.b＠example.com。", "a.b＠example.com", "EMAIL"),
        ("登录10.20.30.40执行", "10.20.30.40", "IP"),
        ("工号：A12345", "A12345", "EMP_ID"),
        ("住址：广东省深圳市南山区科技路7号2栋", "广东省深圳市南山区科技路7号2栋", "ADDRESS"),
        (
            "寄到浙江省杭州市西湖区文三路 478 号华星广场 A 座 1203 室。",
            "浙江省杭州市西湖区文三路 478 号华星广场 A 座 1203 室",
            "ADDRESS",
        ),
        ("Call +1 415 555 2671 now", "+1 415 555 2671", "PHONE"),
    ],
)
def test_a_written_form_is_found_whole(text: str, value: str, kind: str) -> None:
    assert [(text[one.start : one.end], one.type) for one in find(text)] == [(value, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "版本10.1.2.3已发布",
        "订单号：801118823603768118",
        "金额13812345678元",
        "身份证110105194912310021",
        "npm i @vue/cli@4.5.13",
    ],
)
def test_a_number_of_another_kind_is_left_alone(text: str) -> None:
    assert find(text) == ()


def test_check_digits_agree_with_the_examples_of_their_standards() -> None:
    assert id_card("11010519491231002X")
    assert luhn("4111111111111111")
    assert iban("GB82WEST12345698765432")
    assert uscc("91350100M000100Y43")
    assert not uscc("91350100M000100Y44")


@pytest.mark.parametrize("operator", ["replace", "mask", "pseudonym", "vault"])
def test_no_part_of_a_version_keeps_a_value(operator: MaskOperator) -> None:
    table = "<table><tr><td>陈晓<b>明</b></td><td>138&nbsp;0013<i>8000</i></td></tr></table>"
    result = masked("联系人：陈晓明，电话13800138000", "请找陈晓明办理", operator=operator, html=table)
    shown = result.model_dump_json()
    assert "陈晓明" not in shown
    assert "13800138000" not in shown
    assert "Li Lei" not in shown
    assert result.uri.startswith("人事/")
    assert result.uri.endswith(".docx")
    html = result.chunks[0].html or ""
    assert all(html.count(tag) == 1 for tag in ("<table>", "<b>", "</b>", "<i>", "</i>", "</table>"))


def test_a_pseudonym_is_stable_within_a_key_and_foreign_to_another() -> None:
    first, again = (
        masked("打138-0013-8000", operator="pseudonym"),
        masked("打１３８００１３８０００", operator="pseudonym"),
    )
    other = masked("打13800138000", operator="pseudonym", key=b"another")
    assert first.chunks[0].text == again.chunks[0].text
    assert first.chunks[0].text != other.chunks[0].text
    assert leaks(first.chunks[0].text) == ()


def test_the_mask_operator_leaves_the_ends_of_a_mobile() -> None:
    assert masked("打13800138000", operator="mask").chunks[0].text == "打138****8000"


def test_the_vault_gives_the_value_back_to_the_key_holder_only() -> None:
    chunk = Chunk(id="0" * 32, ordinal=0, kind="text", text="打13800138000")
    result, vault = mask_with_vault(
        title="",
        uri="a.txt",
        metadata={},
        language="zh",
        chunks=[chunk],
        policy={"PHONE": "vault"},
        settings=RULES_ONLY,
        key=KEY,
    )
    assert vault[0].pseudonym in result.chunks[0].text
    assert unseal(vault[0].sealed, KEY) == "13800138000"
    with pytest.raises(Rejected) as refused:
        unseal(seal("x", KEY), b"another")
    assert refused.value.code is Code.PII_UNMASKABLE


def test_findings_count_types_and_hold_no_value() -> None:
    finding = next(one for one in masked("打13800138000或13900139000").findings if one.type == "PHONE")
    assert (finding.count, finding.operator) == (2, "replace")


def test_a_query_is_masked_for_the_log() -> None:
    assert mask_query("13800138000是谁的", RULES_ONLY, KEY) == "<PHONE>是谁的"


def test_the_leak_scan_is_silent_on_placeholders() -> None:
    assert leaks("护照<PASSPORT_EA388437>，电话138****8000，<EMAIL>") == ()
    assert leaks("电话13800138000") == ("PHONE",)


def test_names_are_found_by_the_models_line_by_line() -> None:
    text, found = try_mask("姓名：陈晓明\nPlease ask John Smith.\n王小明在北京市工作")
    assert [one.type for one in found if one.type == "PERSON"] == ["PERSON"] * 3
    assert "北京市" in text
    assert "John" not in text


def test_a_broken_employee_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="regular expression"):
        MaskSettings(employee_number="(")


def test_importing_the_layer_loads_no_model() -> None:
    heavy = "('spacy', 'presidio_analyzer', 'cryptography')"
    code = f"import sys, pipelines.mask; print([m for m in {heavy} if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


@given(st.text(max_size=60))
def test_folded_offsets_lead_back_into_the_text(text: str) -> None:
    folded = fold(text)
    for index in range(len(folded.text)):
        start, end = folded.span(index, index + 1)
        assert 0 <= start < end <= len(text)


@given(st.text(alphabet="ab<>&;/td 1\"'", max_size=40))
def test_markup_without_a_change_comes_back_as_it_was(markup: str) -> None:
    text, origin = visible(markup)
    assert len(text) == len(origin)
    assert put_back(markup, origin, []) == markup


@pytest.mark.shared
def test_the_labelled_set_leaks_nothing_and_the_traps_stay(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "pii" / "pii_zh.jsonl").read_text("utf-8").splitlines()]
    leaked = [row["text"] for row in rows if row["form"].startswith("NEG") and find(row["text"])]
    for row in rows:
        covered = {i for one in find(row["text"]) for i in range(one.start, one.end)}
        wanted = [i for s, e, kind in row["spans"] if kind not in ("PERSON", "ORG") for i in range(s, e)]
        leaked += [row["text"]] if any(row["text"][i].isalnum() and i not in covered for i in wanted) else []
    assert len(leaked) <= 0.01 * len(rows)
