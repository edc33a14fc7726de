"""How many server faults the language model client survives, against the SDK's own `parse`."""

import contextlib
import itertools
import json
from typing import Any

from tests.fakes_model import ModelServer
from tests.unit.test_language_model import FACT, FAULTS, Fact, ask, connect

NINE = tuple(itertools.islice(FAULTS, 9))


def ours(server: ModelServer) -> Any:
    model = connect(server)
    try:
        return ask(model)
    finally:
        model.close()


def sdk(server: ModelServer) -> Any:
    from openai import OpenAI

    with OpenAI(base_url=server.url, api_key="none") as client:
        messages: Any = [{"role": "user", "content": "Find the fact."}]
        answer = client.chat.completions.parse(model="m", messages=messages, response_format=Fact)
        return answer.choices[0].message.parsed


def survived(way: Any) -> int:
    count = 0
    for fault in NINE:
        # Any failure counts as one, whatever its kind.
        with ModelServer(*FAULTS[fault]) as server, contextlib.suppress(Exception):
            count += way(server) == FACT
    return count


def main() -> None:
    print(json.dumps({"bench": "llm", "faults": len(NINE), "sluice": survived(ours), "openai_parse": survived(sdk)}))


if __name__ == "__main__":
    main()
