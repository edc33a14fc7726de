"""Second sync over unchanged files against a bare walk of the same tree, in CPU seconds of one process.

The whole scan counts: listing, the registry out of SQL, the comparison, and the registry's one transaction.
"""

import json
import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr

from pipelines.migrate import migrate
from pipelines.names import Names
from pipelines.scan import sync
from pipelines.settings import Settings
from pipelines.wiring import wire
from schemas.source import Source
from sql import tables

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


def known(app, source):
    """Register every file as if an earlier scan had taken it in."""
    sync.register(app, source)
    names = Names(app, source)
    row = {"kb": app.kb, "source": source.name, "uri": "x.md", "sha256": "0" * 64, "acl": 1, "present": True}
    rows = [
        {**row, "id": names.key(file.uri), "name_key": names.key(file.uri), "name_sealed": "", "token": file.token}
        | {"size": file.size, "seen": 0.0}
        for file in app.reader(source).files()
    ]
    with app.database.write() as tx:
        tx.execute(tables.document.insert(), rows)


def main():
    """Prints one JSON object."""
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder, "docs")
        for number in range(FOLDERS * FILES):
            path = docs / str(number // FILES) / f"{number}.md"
            if number % FILES == 0:
                path.parent.mkdir(parents=True)
            path.touch()
        settings = Settings(home=Path(folder, "home"), sources=Path(folder, "none"), secret_key=SecretStr("bench"))
        app = replace(wire(settings, actor="bench"))
        migrate(app)
        source = Source(name="bench", location=str(docs))
        known(app, source)
        walks, scans, made = [], [], None

        def scan():
            nonlocal made
            made = sync.scan(app, source, "run", full=False, confirm=False)

        for _ in range(ROUNDS):
            walks.append(seconds(lambda: bare(docs)))
            scans.append(seconds(scan))
    print(
        json.dumps(
            {
                "bench": "scan",
                "files": made.plan.seen,
                "opened": made.plan.opened,
                "unchanged": made.plan.unchanged,
                "bare_walk_cpu_seconds": round(statistics.median(walks), 3),
                "scan_cpu_seconds": round(statistics.median(scans), 3),
                "ratio": round(statistics.median(b / a for a, b in zip(walks, scans, strict=True)), 2),
            }
        )
    )


if __name__ == "__main__":
    main()
