"""Second scan of unchanged files against a bare walk of the same tree, in CPU seconds of one process."""

import json
import os
import statistics
import tempfile
import time
from pathlib import Path

from pipelines.adapters.folder import FolderReader
from pipelines.scan.plan import Known, plan
from schemas.source import Source

FOLDERS, FILES, ROUNDS = 200, 500, 5


def bare(path):
    """`os.scandir` and `stat` of every file; their number."""
    count = 0
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                count += bare(entry.path)
            else:
                entry.stat()
                count += 1
    return count


def seconds(work):
    """CPU seconds of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def never(uri):
    raise AssertionError(f"opened {uri}")


def main():
    """Prints one JSON object."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FOLDERS * FILES):
            path = Path(folder, str(number // FILES), f"{number}.md")
            if number % FILES == 0:
                path.parent.mkdir()
            path.touch()
        reader = FolderReader(Source(name="bench", location=folder), Path("/"))
        known = {file.uri: Known("d", file.token, "s") for file in reader.files()}
        walks, scans = [], []
        for _ in range(ROUNDS):
            walks.append(seconds(lambda: bare(folder)))
            scans.append(seconds(lambda: plan(known, reader.files(), never)))
        made = plan(known, reader.files(), never)
    print(
        json.dumps(
            {
                "bench": "scan",
                "files": made.seen,
                "opened": made.opened,
                "unchanged": made.unchanged,
                "bare_walk_cpu_seconds": round(statistics.median(walks), 3),
                "scan_cpu_seconds": round(statistics.median(scans), 3),
                "ratio": round(statistics.median(b / a for a, b in zip(walks, scans, strict=True)), 2),
            }
        )
    )


if __name__ == "__main__":
    main()
