"""What holds for the chunks of any document."""

import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.chunk import ChunkSettings, chunk_document
from pipelines.chunk.pack import pack
from pipelines.chunk.units import Limits, Unit, estimate_tokens
from schemas.document import Block, Document

SETTINGS = ChunkSettings()
KINDS = st.sampled_from(["heading", "text", "list", "table", "code", "faq", "figure"])
TEXTS = st.text(alphabet=st.sampled_from("的一是在。，！ab .\n|-#é😀"), max_size=1200)


def chunks_of(blocks):
    document = Document(title="手册", media_type="text/plain", blocks=tuple(blocks))
    return chunk_document(document, document_id="d", salt=b"salt", settings=SETTINGS)


def squeezed(text):
    return re.sub(r"\s+", "", text)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.builds(Block, kind=KINDS, text=TEXTS), max_size=12))
def test_all_visible_text_is_in_some_chunk_and_no_chunk_is_over_the_limit(blocks):
    chunks = chunks_of(blocks)
    shown = squeezed("".join(chunk.text + "".join(chunk.section) for chunk in chunks))
    for block in blocks:
        for line in block.text.split("\n"):
            for piece in re.findall(r"[^。！]+", squeezed(line)):
                assert piece[:40] in shown
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        assert estimate_tokens(f"{chunk.context}\n{chunk.text}") <= SETTINGS.max_tokens


@settings(max_examples=30, deadline=None)
@given(st.lists(st.builds(Block, kind=st.just("text"), text=TEXTS, hidden=st.just("hidden.white")), max_size=3))
def test_hidden_text_is_in_no_chunk(blocks):
    assert chunks_of(blocks) == ()


def paragraph(source):
    words = "".join(chr(source.randrange(0x4E00, 0x9FA5)) for _ in range(source.randint(20, 150)))
    return Block(kind="text", text=f"{words}。")


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.integers(0, 299), st.sampled_from(["other", "longer", "one word"]))
def test_an_edit_of_one_paragraph_changes_at_most_three_chunks(seed, place, edit):
    source = random.Random(seed)
    before = [paragraph(source) for _ in range(300)]
    old = before[place].text
    new = {"other": paragraph(source).text, "longer": f"{old}又加了一句话。", "one word": f"{old[:10]}改{old[11:]}"}
    after = [*before[:place], Block(kind="text", text=new[edit]), *before[place + 1 :]]
    assert len({c.id for c in chunks_of(after)} - {c.id for c in chunks_of(before)}) <= 3


@settings(max_examples=30, deadline=None)
@given(st.lists(st.builds(Block, kind=KINDS, text=TEXTS), max_size=6), st.floats(0.2, 3))
def test_no_chunk_is_over_the_limit_by_the_embedders_own_count(blocks, tokens_of_a_character):
    document = Document(title="手册", media_type="text/plain", blocks=tuple(blocks))

    def count(text):
        return 2 + round(tokens_of_a_character * len(text))

    chunks = chunk_document(document, document_id="d", salt=b"salt", settings=SETTINGS, count_tokens=count)
    for chunk in chunks:
        assert count(f"{chunk.context}\n{chunk.text}") <= SETTINGS.max_tokens


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.01, 2), min_size=1, max_size=60), st.integers(0, 9))
def test_packing_keeps_every_unit_in_order_and_no_group_of_several_is_too_large(loads, kinds):
    block = Block(kind="text", text="")
    units = [Unit(str(n % (kinds + 1)), block, "\n", n % 3, "text", load) for n, load in enumerate(loads)]
    groups = pack(units, Limits(400, 400, len))
    assert [unit for group in groups for unit in group] == units
    assert all(sum(unit.load for unit in group) <= 1 + 1e-9 for group in groups if len(group) > 1)
