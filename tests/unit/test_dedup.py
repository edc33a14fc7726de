import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.dedup import compare
from pipelines.dedup.normalise import fold, nfkc
from pipelines.dedup.settings import DedupSettings

SETTINGS = DedupSettings()
TEXT = "乙方应当在收到发票后三十日内支付合同价款100元，逾期按日计收违约金，并赔偿甲方因此遭受的损失。"


def test_punctuation_alone_makes_the_same_text() -> None:
    assert compare(TEXT, TEXT.replace("，", ", "), SETTINGS).outcome == "same"


def test_a_changed_number_or_negation_is_a_version_and_never_dropped() -> None:
    for other in (TEXT.replace("100", "200"), TEXT.replace("应当", "不得")):
        verdict = compare(TEXT, other, SETTINGS)
        assert (verdict.outcome, verdict.drop) == ("version", False)


LONG = "他在{}人之中最早开悟，{}参加后来的集会，存放的数据为{}，期限为{}。档案馆保存了当年留下的书信和手稿。"
PLAIN = ("五", "可以", "1.5 GB", "5天")


@pytest.mark.parametrize(
    ("slot", "other"),
    [
        (0, "九"),
        (0, "伍"),
        (0, "十五"),
        (1, "不可以"),
        (1, "必须"),
        (2, "15 GB"),
        (2, "1.5 MB"),
        (2, "-1.5 GB"),
        (3, "5周"),
        (3, "15天"),
    ],
)
def test_a_number_unit_negation_or_modal_word_that_differs_blocks_a_drop(slot: int, other: str) -> None:
    ours, theirs = list(PLAIN), list(PLAIN)
    theirs[slot] = other
    a, b = LONG.format(*ours), LONG.format(*theirs)
    for verdict in (compare(a, b, SETTINGS), compare(b, a, SETTINGS)):
        assert verdict.outcome in ("version", "template") and not verdict.drop


def test_two_numbers_that_change_places_block_a_drop() -> None:
    a = TEXT + "甲方持有5股，乙方持有8股。"
    assert not compare(a, a.replace("5股", "x股").replace("8股", "5股").replace("x股", "8股"), SETTINGS).drop


def test_an_english_number_word_or_negation_blocks_a_drop() -> None:
    text = "The supplier will deliver the goods within five days after the order and bears every cost of transport."
    for other in (text.replace("five", "nine"), text.replace("will", "will not"), text.replace("days", "weeks")):
        assert not compare(text, other, SETTINGS).drop


def test_an_added_sentence_with_its_own_number_still_contains_the_shorter_text() -> None:
    assert compare(TEXT, TEXT + "本合同一式两份，双方各执一份，自签字盖章之日起生效，有效期为3年。", SETTINGS).drop


def test_folding_looks_at_every_character_and_changes_none_but_to_its_own_compatibility_form() -> None:
    for code in range(0x10000):
        character = chr(code)
        plain = unicodedata.normalize("NFKC", character)
        assert fold(character) == (plain if len(plain) == 1 else character), hex(code)


@given(st.text(alphabet=st.sampled_from("ＡＢ１２ａé́ﾊﾞ㎡Ⅳ，。文가\u1100\u1161"), max_size=12))
def test_the_normal_form_through_folding_is_the_normal_form(text: str) -> None:
    assert nfkc(text) == unicodedata.normalize("NFKC", text)
