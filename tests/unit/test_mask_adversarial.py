"""Numbers in disguise: whatever a writer, a scanner or a page does to a value, no digit of it may stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import Code, Rejected
from pipelines.mask import mask_with_vault
from pipelines.mask.analyzer import analyze
from pipelines.mask.html import visible
from pipelines.mask.rules import find
from pipelines.mask.settings import MaskSettings
from schemas.chunk import Chunk

MOBILE = "13800138000"
ID_CARD = "11010519491231002X"


def covered(text: str) -> bool:
    """Whether every letter and digit of a text that is one value lies in a finding."""
    found = {index for one in find(text) for index in range(one.start, one.end)}
    return all(index in found for index, character in enumerate(text) if character.isalnum())


@pytest.mark.parametrize(
    "text",
    [
        "138·0013·8000",
        "138/0013/8000",
        "138_0013_8000",
        "138 - 0013 - 8000",
        "138   0013   8000",
        "①③⑧⓪⓪①③⑧⓪⓪⓪",
        "١٣٨٠٠١٣٨٠٠٠",
        "幺三八洞洞幺三八洞洞洞",
        "138OO138OOO",
        "l38OO138000",
        "13800l38o0o",
        "11O105194912310O2X",
        "110105.19491231.002X",
        "11010519491231002×",
        "zhangsan [at] example [dot] com",
        "zhangsan @ example . com",
        "京 A 12345",
        "一三八，零零一三，八零零零",
        "+86-138-0013-8000",
        "008613800138000",
        "１１０１０５１９４９１２３１００２Ｘ",
        "6222 0200 0000 0000 000",
    ],
)
def test_a_disguised_value_is_covered_whole(text: str) -> None:
    assert covered(text)


@pytest.mark.parametrize(
    "markup",
    [
        "<td>138<b>0013</b>8000</td>",
        "<td>138<br>0013<br/>8000</td>",
        "<td>138<!-- page 2 -->00138000</td>",
        "<td>" + "".join(f"<span>{digit}</span>" for digit in MOBILE) + "</td>",
    ],
)
def test_a_number_that_tags_split_is_covered(markup: str) -> None:
    assert covered(visible(markup)[0].strip())


@pytest.mark.parametrize(
    "text",
    [
        "比例为138,0013,8000三组",
        "OllO是一个词，IOIO也是",
        "见第 10 页 (at the end) 一节",
        "lOl lol OOO",
        "订单号 13812345678901",
        "合同编号 HT-2023-13812345678",
        "Lot 13800138000 pcs",
        "ISBN 978-7-111-21382-6",
        "时间戳 1700000000000",
        "金额 13812345678元",
        "产品编码 6222020012345678",
        "股票代码 600519，另见 600519.SH",
        "版本 10.2.3.4",
        "SKU-13812345678",
        "快递单号 SF1381234567890",
        "| 数量 | 金额 |\n| 13812 | 345678 |",
    ],
)
def test_words_and_lists_of_numbers_are_left_alone(text: str) -> None:
    assert find(text) == ()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("姓名\t手机\n李娜\t138\t00138000", ("李娜", "138", "00138000")),
        ("| 姓名 | 联系电话 |\n|---|---|\n| 王小明 | 1380013 | 8000 |", ("王小明", "1380013", "8000")),
        ("| 110105 | 19491231002X |", ("110105", "19491231002X")),
    ],
)
def test_cells_of_a_table_are_read_together(text: str, parts: tuple[str, ...]) -> None:
    found = analyze(text, MaskSettings(names=False))
    covered_at = {index for one in found for index in range(one.start, one.end)}
    assert all(set(range(text.index(part), text.index(part) + len(part))) <= covered_at for part in parts)


@pytest.mark.parametrize("value", [MOBILE, ID_CARD])
def test_a_value_that_the_border_of_two_chunks_cuts_leaves_no_part(value: str) -> None:
    for at in range(1, len(value)):
        texts = (f"请联系本人，号码 {value[:at]}", f"{value[at:]}，谢谢。")
        chunks = [Chunk(id=f"{i:032x}", ordinal=i, kind="text", text=text) for i, text in enumerate(texts)]
        made, _ = mask_with_vault(
            title="",
            uri="a.md",
            metadata={},
            language="zh",
            chunks=chunks,
            policy={},
            settings=MaskSettings(names=False),
            key=b"k",
        )
        shown = "".join(one.text for one in made.chunks)
        assert not any(character.isdigit() for character in shown), (at, shown)


@given(
    value=st.sampled_from((MOBILE, ID_CARD)),
    gaps=st.lists(st.sampled_from(("", "", "", " ", "-", "\n", "\u200b", "\u00ad", " \n")), min_size=18, max_size=18),
    wide=st.booleans(),
)
def test_separators_line_breaks_and_invisible_characters_hide_nothing(value: str, gaps: list[str], wide: bool) -> None:
    shown = value.translate({ord(c): ord(c) + 0xFEE0 for c in "0123456789"}) if wide else value
    assert covered("".join(digit + gap for digit, gap in zip(shown, gaps, strict=False)).strip())


def test_what_still_reads_as_personal_data_after_masking_is_refused() -> None:
    settings = MaskSettings(names=False, employee_number=r"工号[:：]([A-Z0-9*]{5,})")
    chunk = Chunk(id="0" * 32, ordinal=0, kind="text", text="工号：A1234567")
    wanted = {"title": "t", "uri": "a.txt", "metadata": {}, "language": "zh", "chunks": [chunk], "settings": settings}
    with pytest.raises(Rejected) as refused:
        mask_with_vault(**wanted, policy={"EMP_ID": "mask"}, key=b"k")  # type: ignore[arg-type]
    assert refused.value.code is Code.PII_UNMASKABLE
    made, _ = mask_with_vault(**wanted, policy={"EMP_ID": "replace"}, key=b"k")  # type: ignore[arg-type]
    assert made.chunks[0].text == "工号：<EMP_ID>"
