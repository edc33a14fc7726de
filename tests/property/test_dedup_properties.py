"""Links follow from what the corpus holds: not from batches, order, or how often a batch is run."""

import hashlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.dedup import compare, signatures
from pipelines.dedup.settings import DedupSettings
from schemas.chunk import Chunk
from tests.fakes_corpus import FakeCorpus

WORDS = ("数据", "安全", "管理", "系统", "应当", "可以", "备份", "100", "200", "三日", "王小明", "北京")
WORDS += ("the", "Acme", "not", "。", "，", "\n")


def _chunk(text: str) -> Chunk:
    return Chunk(id=hashlib.sha256(text.encode()).hexdigest()[:32], ordinal=0, kind="text", text=text)


def _family(seed: int, size: int) -> list[Chunk]:
    """Fillings of one form, near copies of some, and strangers."""
    chance = random.Random(seed)
    form = "甲方{}与乙方{}于{}年{}月签订本合同，总价{}元，由双方盖章后生效，一式两份，具有同等法律效力。"
    texts = [form.format(*(chance.randrange(1000, 9999) for _ in range(5))) for _ in range(size)]
    texts += [text.replace("盖章", "签章") for text in texts[: size // 3]] + texts[:1]
    texts += ["".join(chance.choice(WORDS) for _ in range(30)) for _ in range(size // 2)]
    return [_chunk(text) for text in dict.fromkeys(texts)]


@pytest.mark.parametrize("method", ["minhash", "datasketch", "simhash"])
@given(seed=st.integers(0, 9), order=st.randoms(use_true_random=False), most=st.sampled_from([1, 2, 3, 64]))
@settings(max_examples=6, deadline=None)
def test_links_do_not_depend_on_batches_or_order(method: str, seed: int, order: random.Random, most: int) -> None:
    chosen = DedupSettings(method=method, max_candidates=most)
    chunks = _family(seed, 9)
    once = FakeCorpus(chosen)
    once.add(chunks)
    order.shuffle(chunks)
    grown = FakeCorpus(chosen)
    while chunks:
        size = order.randrange(1, 5)
        batch, chunks = chunks[:size], chunks[size:]
        grown.add(batch)
        grown.add(batch)
    assert grown.links == once.links
    assert once.links or method == "simhash"


@given(st.lists(st.sampled_from(WORDS), max_size=40), st.lists(st.sampled_from(WORDS), max_size=40))
@settings(max_examples=60, deadline=None)
def test_a_verdict_is_the_same_from_both_sides(left: list[str], right: list[str]) -> None:
    a, b = "".join(left), "".join(right)
    one, other = compare(a, b, DedupSettings()), compare(b, a, DedupSettings())
    assert (one.outcome, one.drop) == (other.outcome, other.drop)


@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=80, deadline=None)
def test_any_two_texts_have_a_verdict_whose_spans_lie_inside_them(a: str, b: str) -> None:
    for change in compare(a, b, DedupSettings()).evidence.changes:
        assert 0 <= change.a_start <= change.a_end <= len(a)
        assert 0 <= change.b_start <= change.b_end <= len(b)


@pytest.mark.parametrize("method", ["minhash", "datasketch", "simhash"])
def test_a_signature_does_not_depend_on_its_neighbours(method: str) -> None:
    chosen = DedupSettings(method=method)
    texts = ["", "。", "短", "两字", "三个字", "四个字的", "Ein längerer Text, ganz anders.", "数据安全管理办法" * 9]
    together = signatures(texts, chosen, b"s")
    assert together.tolist() == [signatures([text], chosen, b"s")[0].tolist() for text in texts]
