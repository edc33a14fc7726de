"""An OpenAI-compatible server on loopback that answers by rules over what it is asked."""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tests.fakes_model import ModelServer, Reply, says

WORD = re.compile(r"[^\W\d_]{2,}|\d[\d,.]*")
SENTENCE = re.compile(r"[^.。!?！？\n]+[.。!?！？]?")
CAPITALS = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*")


class RuleServer(ModelServer):
    """Reads the question out of the prompt and answers it by rules. `fault`: what it does to every answer instead."""

    def __init__(self) -> None:
        super().__init__([])
        self.fault = ""
        self.closing = threading.Event()

    def __exit__(self, *args: Any) -> None:
        self.closing.set()
        super().__exit__(*args)

    def answer(self, request: dict[str, Any]) -> Reply:
        self.requests.append(request)
        system, user = request["messages"][0]["content"], request["messages"][1]["content"]
        schema = json.loads(system[system.index("schema:\n") + len("schema:\n") :])
        content = json.dumps(TASKS[next(name for name in TASKS if name in schema["properties"])](user))
        return self._at_fault(content, schema)

    def _at_fault(self, content: str, schema: dict[str, Any]) -> Reply:
        if self.fault == "hang":
            self.closing.wait(10)
        plain: dict[str, Reply] = {
            "429": 429,
            "500": 500,
            "fenced": says(f"Sure:\n```json\n{content}\n```\nAnything else?"),
            "thinking": says(f"<think>Is it {{x}}?</think>\n{content}"),
            "truncated": says(content[: len(content) // 2], "length"),
            "wrong types": says(json.dumps({name: {"no": [1]} for name in schema["properties"]})),
            "prose": says("I am sorry, I cannot do that."),
            "no choices": {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []},
        }
        return plain.get(self.fault) or says(content)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text)}


def _sentences(text: str) -> list[str]:
    return [one.strip() for one in SENTENCE.findall(text) if one.strip()]


def _tagged(name: str, text: str) -> list[str]:
    return re.findall(rf"<{name}(?: number=\d+)?>\n?(.*?)\n?</{name}>", text, re.S)


def _plan(asked: str) -> dict[str, Any]:
    """Wording, passage, parts and sources of a question."""
    question, earlier = _tagged("question", asked)[0], _tagged("earlier", asked)
    parts = re.split(r"\s+and\s+|，以及|和", question)
    names = [one for one in _tagged("sources", asked)[0].split(", ") if one]
    return {
        "query": " ".join([*earlier[-1:], question]) if re.search(r"\b(it|that)\b", question) else question,
        "passage": f"The rule says: {question.rstrip('?？')}.",
        "questions": parts if len(parts) > 1 else [],
        "sources": [name for name in names if _words(name) & _words(question)],
    }


def _best(question: str, sources: Sequence[str]) -> tuple[int, str]:
    """(number of the source, sentence) that holds most words of the question."""
    asked = _words(question)
    pairs = [(at, one) for at, text in enumerate(sources, 1) for one in _sentences(text.split("\n", 1)[-1])]
    return max(pairs, key=lambda pair: (len(asked & _words(pair[1])), -pair[0]))


def _draft(asked: str) -> dict[str, Any]:
    number, sentence = _best(_tagged("question", asked)[0], _tagged("source", asked))
    return {"text": f"{sentence.rstrip('.。')} [{number}]."}


def _judgement(asked: str) -> dict[str, Any]:
    """A sentence is supported when the sources hold nine of ten of its words."""
    question, sources = _tagged("question", asked)[0], _tagged("source", asked)
    said = _tagged("sentence", asked)
    held = [_share(_words(re.sub(r"\[\d+\]", "", one)), _words(" ".join(sources))) >= 0.9 for one in said]
    cited = [bool(re.search(r"\[\d+\]", one)) and ok for one, ok in zip(said, held, strict=True)]
    return {
        "supported": held,
        "cited": cited,
        "relevance": round(10 * _share(_words(question), _words(" ".join(said)))),
    }


def _share(some: set[str], all_: set[str]) -> float:
    return len(some & all_) / len(some) if some else 0.0


def _generated(passage: str) -> dict[str, Any]:
    sentence = max(_sentences(passage), key=len)
    return {"question": f"What is said about {' '.join(WORD.findall(sentence)[:3])}?", "span": sentence}


def _extraction(text: str) -> dict[str, Any]:
    often = Counter(word for word in WORD.findall(text) if len(word) > 4)
    names = dict.fromkeys(CAPITALS.findall(text))
    return {
        "keywords": [word for word, _ in often.most_common(3)],
        "entities": [{"text": name, "type": "term"} for name in [*names, "Nobody Wrote This"]],
        "relations": [],
    }


TASKS: dict[str, Callable[[str], dict[str, Any]]] = {
    "passage": _plan,
    "supported": _judgement,
    "span": _generated,
    "keywords": _extraction,
    "text": _draft,
}
"""By a field that only this task's record has."""
