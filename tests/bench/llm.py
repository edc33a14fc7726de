"""How many server faults the language model client survives, against the SDK's own `parse`."""

import itertools
import json
import threading
from typing import Any

from tests.unit.test_language_model import FACT, FAULTS, Fact, Server, ask, connect

NINE = tuple(itertools.islice(FAULTS, 9))


def ours(server: Server) -> Any:
    model = connect(server)
    try:
        return ask(model)
    finally:
        model.close()


def sdk(server: Server) -> Any:
    from openai import OpenAI

    with OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none") as client:
        messages: Any = [{"role": "user", "content": "Find the fact."}]
        answer = client.chat.completions.parse(model="m", messages=messages, response_format=Fact)
        return answer.choices[0].message.parsed


def survived(way: Any) -> int:
    count = 0
    for fault in NINE:
        with Server() as server:
            server.script, server.refuses = list(FAULTS[fault][0]), FAULTS[fault][1]
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                count += way(server) == FACT
            except Exception:  # any failure counts as one, whatever its kind
                pass
            finally:
                server.shutdown()
                thread.join()
    return count


def main() -> None:
    print(json.dumps({"bench": "llm", "faults": len(NINE), "sluice": survived(ours), "openai_parse": survived(sdk)}))


if __name__ == "__main__":
    main()
