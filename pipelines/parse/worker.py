"""The child process of `isolate`: JSON requests on standard input, JSON answers on what was standard output."""

import importlib
import json
import os
import queue
import resource
import sys
import threading
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

from pipelines.errors import Code, SluiceError
from pipelines.parse import progress, sink
from pipelines.parse.dispatch import parse_file
from pipelines.parse.page_image import page_image
from pipelines.parse.settings import ParseSettings
from pipelines.ports import Ocr
from schemas.document import Box


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The one catch-all of the layer: whatever a parser raises becomes a code and a sentence."""
    settings = ParseSettings.model_validate(request["settings"])
    try:
        _limit_memory(settings.memory_mb)
        path, folder = Path(request["path"]), request.get("folder")
        if folder and (page := request.get("show")):
            boxes = [Box.model_validate(box) for box in request["boxes"]]
            png = page_image(path, name=request["name"], page=page, boxes=boxes, settings=settings)
            (Path(folder) / "page.png").write_bytes(png)
            return {"shown": page}
        ocr = _ocr(json.dumps(request["ocr"], sort_keys=True)) if request["ocr"] else None
        with sink.into(Path(folder) if folder else None):
            document = parse_file(path, name=request["name"], ocr=ocr, settings=settings)
        return {"document": document.model_dump(mode="json")}
    except SluiceError as error:
        return {"code": error.code.value, "reason": error.reason}
    except MemoryError:
        return {"code": Code.PARSE_MEMORY.value, "reason": f"more than {settings.memory_mb} MB were asked for"}
    except Exception as error:  # a defect of a parser is a verdict on this file, not the end of the run
        starved = "alloc" in str(error).lower() or "memory" in str(error).lower()
        code = Code.PARSE_MEMORY if starved else Code.PARSE_FAILED
        return {"code": code.value, "reason": f"{type(error).__name__}: {error}"[:500]}


@cache
def _ocr(factory: str) -> Ocr:
    """`factory`: JSON of an OcrFactory, so that the engine is kept for the next file."""
    choice = json.loads(factory)
    module, name = choice["factory"].split(":")
    return cast(Ocr, getattr(importlib.import_module(module), name)(**choice["arguments"]))


def _limit_memory(megabytes: int) -> None:
    """Address space: what is mapped now plus the allowance. Only the soft limit moves, so it can be set anew."""
    status = Path("/proc/self/statm")
    if status.exists():
        mapped = int(status.read_text().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (mapped + megabytes * 2**20, hard))


def _read(requests: "queue.Queue[bytes]") -> None:
    """Feeds the queue; when the parent is gone, so are we, even in the middle of a file."""
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)


def _private_output() -> IO[bytes]:
    """Libraries print to file descriptor 1; the protocol gets a copy, and 1 leads to standard error."""
    sys.stdout.flush()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


def main() -> None:
    output = _private_output()

    def send(message: dict[str, Any]) -> None:
        output.write(json.dumps(message).encode() + b"\n")
        output.flush()

    progress.listener = lambda page: send({"page": page})
    requests: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    importlib.import_module(sys.argv[1])  # seconds on a busy machine: not to be charged to the first page
    send({"page": 0})
    while True:
        send(answer(json.loads(requests.get())))


if __name__ == "__main__":
    main()
