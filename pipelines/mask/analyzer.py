"""The rules and the names behind one Presidio analyzer."""

import importlib
import logging
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from pipelines.errors import Code, Misconfigured
from pipelines.mask import rules
from pipelines.mask.names import labelled, plausible
from pipelines.mask.rules import Finding
from pipelines.mask.settings import MaskSettings

RULE_TYPES = tuple(dict.fromkeys([*rules.TYPES, "EMP_ID"]))
NAME_TYPES = ("PERSON", "ORGANIZATION", "LOCATION")


def _recognizers(settings: MaskSettings) -> list[Any]:
    from presidio_analyzer import EntityRecognizer, RecognizerResult

    class RuleRecognizer(EntityRecognizer):  # type: ignore[misc]
        """Patterns with check digits."""

        def load(self) -> None: ...

        def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:
            return [RecognizerResult(one.type, one.start, one.end, 1.0) for one in rules.find(text, settings)]

    class NameRecognizer(EntityRecognizer):  # type: ignore[misc]
        """Names after labels, and what the model found."""

        def load(self) -> None: ...

        def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:
            found = [RecognizerResult("PERSON", start, end, 0.95) for start, end in labelled(text)]
            for span in nlp_artifacts.entities if nlp_artifacts else ():
                if span.label_ != "PERSON" or plausible(span.text):
                    start = span.start_char + len(span.text) - len(span.text.lstrip())
                    found.append(RecognizerResult(span.label_, start, start + len(span.text.strip()), 0.85))
            return found

    return [
        RuleRecognizer(supported_entities=list(RULE_TYPES), supported_language="zh"),
        NameRecognizer(supported_entities=list(NAME_TYPES), supported_language="zh"),
    ]


def _engine(settings: MaskSettings) -> Any:
    module, _, name = settings.engine.partition(":")
    try:
        return getattr(importlib.import_module(module), name)(enabled=settings.names)
    except (ImportError, AttributeError) as missing:
        raise Misconfigured(Code.MISSING_MODEL, f"{settings.engine} cannot be loaded: {missing}") from missing


@lru_cache(maxsize=4)
def _analyzer(settings_json: str) -> Any:
    for noisy in ("presidio-analyzer", "presidio_analyzer", "presidio-anonymizer", "spacy"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry

    settings = MaskSettings.model_validate_json(settings_json)
    engine = _engine(settings)
    engine.load()
    registry = RecognizerRegistry(recognizers=_recognizers(settings), supported_languages=["zh"])
    return AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=["zh"])


def analyze(text: str, settings: MaskSettings) -> tuple[Finding, ...]:
    """All findings in order, none overlapping. Rules win over names: they have check digits."""
    return next(analyze_all([text], settings))


def analyze_all(texts: Iterable[str], settings: MaskSettings) -> Iterator[tuple[Finding, ...]]:
    """As `analyze` for each text; the engine of names sees them together, which costs less than one by one."""
    analyzer = _analyzer(settings.model_dump_json())
    for text, artifacts in analyzer.nlp_engine.process_batch(texts, "zh"):
        results = analyzer.analyze(text=text, language="zh", nlp_artifacts=artifacts) if text.strip() else ()
        yield _apart([Finding(one.start, one.end, one.entity_type) for one in results])


def _apart(found: list[Finding]) -> tuple[Finding, ...]:
    certain = rules.merged([one for one in found if one.type in RULE_TYPES])
    people = rules.merged([one for one in found if one.type == "PERSON"])
    places = rules.merged([one for one in found if one.type in ("ORGANIZATION", "LOCATION")])
    taken = list(certain)
    for layer in (people, places):
        taken += [one for one in layer if not any(one.start < t.end and t.start < one.end for t in taken)]
    return tuple(sorted(taken))
