"""Keywords, entities and relations of a chunk."""

from pipelines.errors import Rejected
from pipelines.extract.entities import entities, known, relations
from pipelines.extract.keywords import keywords
from pipelines.extract.prompt import INSTRUCTIONS, Reply
from pipelines.extract.settings import ExtractSettings
from pipelines.ports import LanguageModel
from schemas.chunk import MaskedChunk
from schemas.facts import Entity, Extraction, Keyword, Relation


def extract_chunk(chunk: MaskedChunk, *, llm: LanguageModel | None, settings: ExtractSettings) -> Extraction:
    """By model where one is given and answers, else by rule. Raises Transient when the model's server is away."""
    if llm is not None:
        try:
            reply = llm.ask("extract", INSTRUCTIONS, chunk.text, Reply)
        except Rejected:
            return _by_rule(chunk, settings)
        return _grounded(chunk, reply, llm.name, settings)
    return _by_rule(chunk, settings)


def _by_rule(chunk: MaskedChunk, settings: ExtractSettings) -> Extraction:
    return Extraction(
        chunk=chunk.id,
        keywords=keywords(chunk.text, settings.keywords, settings.max_phrase),
        entities=(*known(chunk.text, settings.terms, settings.synonyms), *entities(chunk.text)),
        relations=relations(chunk.text),
    )


def _grounded(chunk: MaskedChunk, reply: Reply, method: str, settings: ExtractSettings) -> Extraction:
    """Only values that the chunk really holds: a model may invent."""

    def held(*values: str) -> bool:
        return all(value.strip() and value in chunk.text for value in values)

    words = [word for word in dict.fromkeys(reply.keywords) if held(word)][: settings.keywords]
    return Extraction(
        chunk=chunk.id,
        keywords=tuple(Keyword(text=word, weight=1.0) for word in words),
        entities=(
            *known(chunk.text, settings.terms, settings.synonyms),
            *(Entity(text=e.text, type=e.type, method=method) for e in reply.entities if held(e.text)),
        ),
        relations=tuple(
            Relation(subject=r.subject, predicate=r.predicate, object=r.object, method=method)
            for r in reply.relations
            if held(r.subject, r.predicate, r.object)
        ),
    )
