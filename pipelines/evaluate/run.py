"""Ask a knowledge base the questions of a set, at one release, and score what comes back."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import Code, Misconfigured
from pipelines.evaluate.judge import judge
from pipelines.evaluate.library import EvaluationLibrary
from pipelines.evaluate.metrics import read_set, score
from pipelines.library import Reader, whole
from pipelines.ports import Embedder, LanguageModel
from pipelines.query_log import labelled
from pipelines.retrieve.settings import RetrieveSettings
from schemas.evaluation import EvaluationQuestion, QuestionScore
from schemas.search import Hit

if TYPE_CHECKING:
    from pipelines.app import App

TOP = 10
LABELLED = "labelled"
"""The set of what people labelled from the query log."""

Libraries = Callable[[Reader | None], EvaluationLibrary]


def questions_of(app: "App", names: Sequence[str]) -> tuple[EvaluationQuestion, ...]:
    """The questions of these sets, in order, each wording once. A name is a file, seen from sources.yaml."""
    found: dict[tuple[str, str], EvaluationQuestion] = {}
    for name in names:
        for one in _read(app, name):
            found.setdefault((one.question, one.as_), one)
    return tuple(found.values())


def _read(app: "App", name: str) -> tuple[EvaluationQuestion, ...]:
    if name != LABELLED:
        return read_set(_path(app, name))
    with app.database.read() as tx:
        return labelled(tx, app.kb)


def _path(app: "App", name: str) -> Path:
    beside = app.settings.sources.resolve().parent / name
    for path in (beside, Path(name)):
        if path.is_file():
            return path
    raise Misconfigured(Code.BAD_SETTING, f"there is no evaluation set {name}; looked for {beside}")


def run(
    app: "App",
    questions: Sequence[EvaluationQuestion],
    libraries: Libraries,
    settings: RetrieveSettings,
    at: float,
    llm: LanguageModel | None = None,
) -> list[QuestionScore]:
    """One score a question, in order. No model takes part in search, and the clock stands at `at`: same release, same
    scores. With `llm`, it writes an answer to each question and judges it."""
    from pipelines.retrieve.answer import answer
    from pipelines.retrieve.similarity import similarity

    scores: list[QuestionScore] = []
    for question in questions:
        hits, seconds, embedder = whole(app, partial(_asked, app, question, libraries, settings, at))
        alike = partial(similarity, embedder)
        answered = answer(question.question, hits, None, settings, alike).found
        scored = score(question, hits, answered, round(seconds, 4))
        if llm is not None:
            written = answer(question.question, hits, llm, settings, alike)
            scored = scored.model_copy(update={"judged": judge(question.question, written, llm)})
        scores.append(scored)
    return scores


def _asked(
    app: "App", question: EvaluationQuestion, libraries: Libraries, settings: RetrieveSettings, at: float
) -> tuple[Sequence[Hit], float, Embedder]:
    """Hits, wall seconds of the search, and the embedder that it was asked with."""
    from pipelines.publish.collections import embedder_for
    from pipelines.retrieve.search import search

    library = libraries(reader_of(question))
    embedder = embedder_for(app, library.embedder)
    started = time.perf_counter()
    hits = search(
        question.question,
        library=library,
        index=app.index(),
        embedder=embedder,
        settings=settings,
        top=TOP,
        history=question.history,
        reranker=app.reranker(),
        clock=lambda: at,
    ).hits
    return hits, time.perf_counter() - started, embedder


def reader_of(question: EvaluationQuestion) -> Reader | None:
    """None: the question sees everything."""
    if not question.as_ and not question.groups:
        return None
    return Reader(user=question.as_ or None, groups=question.groups)
