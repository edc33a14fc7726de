"""Tokens for BM25."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.retrieve.tokens import lexical_tokens


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("資訊安全", "资讯"),
        ("水", "水"),
        ("The running foxes", "run"),
        ("依据GB/T 3620.1执行", "gb_t_3620_1"),
        ("依据 GB/T 3620.1-2016 执行", "gb_t_3620_1"),
        ("升级到3.3.2版", "3_3_2"),
        ("ＡＢＣ１２３", "abc123"),
    ],
)
def test_a_text_holds_its_token(text: str, token: str) -> None:
    assert token in lexical_tokens(text).split()


def test_traditional_and_simplified_script_give_the_same_tokens() -> None:
    assert lexical_tokens("網絡設備管理辦法") == lexical_tokens("网络设备管理办法")


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_a_word_tokenizer_keeps_every_token_whole(text: str) -> None:
    tokens = lexical_tokens(text)
    assert re.findall(r"\w+", tokens) == tokens.split()
