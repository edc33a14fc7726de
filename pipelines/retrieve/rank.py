"""From candidates to the order that is shown: fusion, priors, reranker, duplicates, novelty."""

from collections.abc import Sequence

from pipelines.errors import SluiceError
from pipelines.ports import Reranker
from pipelines.retrieve.fuse import collapse, diversify, minmax, reciprocal_ranks
from pipelines.retrieve.library import Library
from pipelines.retrieve.recall import Recall
from pipelines.retrieve.settings import RetrieveSettings
from pipelines.retrieve.tokens import lexical_tokens
from schemas.search import Hit, Passage

YEARS_OLD = 10 * 365


def fuse(recall: Recall, settings: RetrieveSettings) -> dict[str, float]:
    """Fused score by row id, priors included."""
    if settings.fusion == "rrf":
        fused = reciprocal_ranks(recall.lists, settings.rrf_k, settings.depth)
        scale = settings.rrf_k + 1.0  # the best possible score becomes the sum of weights, as with min-max
        fused = {id_: score * scale for id_, score in fused.items()}
    else:
        fused = minmax(recall.lists, settings.depth)
    newest = max((one.dated for one in recall.passages.values()), default=0)
    return {id_: score + prior(recall.passages[id_], settings, newest) for id_, score in fused.items()}


def prior(passage: Passage, settings: RetrieveSettings, newest: int) -> float:
    """What authority and age add to a score."""
    age = min((newest - passage.dated) / YEARS_OLD, 1.0) if passage.dated else 1.0
    return settings.authority_weight * (4 - passage.authority) / 3 + settings.recency_weight * (1 - age)


def ranked(
    question: str,
    fused: dict[str, float],
    recall: Recall,
    library: Library,
    settings: RetrieveSettings,
    top: int,
    reranker: Reranker | None,
) -> tuple[list[Hit], tuple[tuple[str, float], ...]]:
    """The hits, best first, without the losers of decided conflicts; and what the reranker said (row id, score), empty
    where there is none or it failed."""
    order = sorted(fused, key=lambda id_: (-fused[id_], id_))
    hits = collapse(
        Hit(
            passage=recall.passages[id_],
            score=fused[id_],
            dense=recall.best("dense", id_),
            lexical=recall.best("lexical", id_),
        )
        for id_ in order
        if fused[id_] >= settings.threshold
    )
    hits = _decided(hits, library) if settings.conflicts else hits
    hits, said = _reranked(question, hits, settings, reranker)
    if settings.mmr > 0:
        return diversify(hits, top, settings.mmr, lambda one: set(lexical_tokens(one).split())), said
    return hits[:top], said


def _decided(hits: Sequence[Hit], library: Library) -> list[Hit]:
    known = library.contradictions([one.passage.chunk for one in hits])
    told = [one.model_copy(update={"contradicts": known.get(one.passage.chunk, ())}) for one in hits]
    return [one for one in told if all(other.action != "drop" for other in one.contradicts)]


def _reranked(
    question: str, hits: list[Hit], settings: RetrieveSettings, reranker: Reranker | None
) -> tuple[list[Hit], tuple[tuple[str, float], ...]]:
    """The best by fusion in the reranker's order, the rest behind them. A reranker that is down changes nothing."""
    head = hits[: settings.rerank_depth]
    if reranker is None or not head:
        return hits, ()
    try:
        scores = reranker.score(question, [f"{one.passage.context}\n{one.passage.text}" for one in head])
    except SluiceError:
        return hits, ()
    said = sorted(zip(head, scores, strict=True), key=lambda one: (-one[1], one[0].passage.id))
    rest = hits[settings.rerank_depth :]
    return _falling([one for one, _ in said], head) + rest, tuple((one.passage.id, score) for one, score in said)


def _falling(order: Sequence[Hit], scored: Sequence[Hit]) -> list[Hit]:
    """The new order with the old scores dealt out again from above, so that scores still fall down the list."""
    return [hit.model_copy(update={"score": old.score}) for hit, old in zip(order, scored, strict=True)]
