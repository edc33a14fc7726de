"""Bytes to text: files of known text in each encoding, beside charset-normalizer: `python -m tests.bench.decode`."""

import base64
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipelines.errors import Rejected
from pipelines.parse.decode import decode

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SLUICE_TEST_DATA", ROOT.parent / "shared" / "data")) / "encoding" / "files.jsonl"
LEAST = 8
"""Characters: below that, several encodings give as good a reading."""


def _ours(data: bytes) -> str:
    try:
        return decode(data).text
    except Rejected:
        return ""


def _peer(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    return str(best) if best else ""


def _mixed(rows: list[dict[str, Any]], count: int) -> list[tuple[str, bytes]]:
    """Files whose lines are in UTF-8 and in GB 18030 by turns."""
    chance, files = random.Random(7), []
    texts = [line for row in rows if row["encoding"] in ("utf-8", "gb18030") for line in row["text"].split("\n")]
    texts = [text for text in texts if len(text) >= LEAST]
    for _ in range(count):
        lines = chance.choices(texts, k=6)
        data = b"".join(f"{text}\n".encode(chance.choice(("utf-8", "gb18030"))) for text in lines)
        files.append(("".join(f"{text}\n" for text in lines), data))
    return files


def _right(read: Callable[[bytes], str], files: list[tuple[str, str, bytes]]) -> dict[str, float]:
    right, total = Counter[str](), Counter[str]()
    for kind, text, data in files:
        total[kind] += 1
        right[kind] += read(data) == text
    return {kind: round(right[kind] / total[kind], 3) for kind in sorted(total)}


def main() -> None:
    """Prints one JSON object: shares read exactly, and MB per CPU second."""
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    files = [(r["encoding"], r["text"], base64.b64decode(r["b64"])) for r in rows if r["chars"] >= LEAST]
    files += [("mixed lines", text, data) for text, data in _mixed(rows, 100)]
    large = ("".join(row["text"] for row in rows if row["encoding"] == "gb18030") * 50).encode("gb18030")
    start = time.process_time()
    _ours(large)
    speed = len(large) / 1e6 / (time.process_time() - start)
    figures = {"ours": _right(_ours, files), "charset_normalizer": _right(_peer, files)}
    print(json.dumps(figures | {"mb_per_cpu_second": round(speed, 1)}))


if __name__ == "__main__":
    main()
