"""Second sync over unchanged files against a bare walk of the same tree, in CPU seconds of one process.

The scan is listing, the registry out of SQL, the comparison, and the registry's one transaction; the sync is all that
`sluice sync` does once it is loaded: recovery, lease, scan, what waits for the layers, and the release to build.
"""

import json
import os
import statistics
import tempfile
import time
from pathlib import Path

from pydantic import SecretStr

from pipelines import flow
from pipelines.migrate import migrate
from pipelines.names import Names
from pipelines.scan import sync
from pipelines.settings import Settings
from pipelines.wiring import wire
from schemas.index import FOREVER
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
    """Register every file, and a published version of it, as an earlier sync and its release would have left them."""
    sync.register(app, source)
    names = Names(app, source)
    row = {"kb": app.kb, "source": source.name, "uri": "x.md", "sha256": "0" * 64, "acl": 1, "present": True}
    documents = [
        {**row, "id": names.key(file.uri), "name_key": names.key(file.uri), "name_sealed": "", "token": file.token}
        | {"size": file.size, "seen": 0.0}
        for file in app.reader(source).files()
    ]
    shared = {"kb": app.kb, "number": 1, "sha256": "0" * 64, "uri": "x.md", "state": "published", "artifacts": {}}
    shared |= {"facts": {}, "ingested_by": "bench", "run": "", "created": 0.0}
    shown = {"kb": app.kb, "born": 1, "died": FOREVER}
    ids = [one["id"] for one in documents]
    with app.database.write() as tx:
        tx.execute(tables.document.insert(), documents)
        tx.execute(tables.version.insert(), [{**shared, "id": id_, "document": id_} for id_ in ids])
        tx.execute(tables.document_release.insert(), [{**shown, "document": id_, "version": id_} for id_ in ids])
        tx.execute(tables.knowledge_base.update().values(live_release=1, last_release=1))


def main():
    """Prints one JSON object."""
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder, "docs")
        for number in range(FOLDERS * FILES):
            path = docs / str(number // FILES) / f"{number}.md"
            if number % FILES == 0:
                path.parent.mkdir(parents=True)
            path.touch()
        sources = Path(folder, "sources.yaml")
        sources.write_text(f"sources:\n  - {{name: bench, location: {docs}}}\n")
        settings = Settings(home=Path(folder, "home"), sources=sources, secret_key=SecretStr("bench"))
        app = wire(settings, actor="bench")
        migrate(app)
        source = app.sources().sources[0]
        known(app, source)
        walks, scans, syncs, made = [], [], [], {}

        def scanned():
            sync.scan(app, source, "run", full=False, confirm=False)

        def synced():
            made.update(flow.sync(app).as_json())

        for _ in range(ROUNDS):
            walks.append(seconds(lambda: bare(docs)))
            scans.append(seconds(scanned))
            syncs.append(seconds(synced))
    ratio = lambda times: round(statistics.median(b / a for a, b in zip(walks, times, strict=True)), 2)  # noqa: E731
    result = {
        "bench": "scan",
        "files": made["files"]["seen"],
        "opened": made["files"]["opened"],
        "unchanged": made["documents"]["unchanged"],
        "bare_walk_cpu_seconds": round(statistics.median(walks), 3),
        "scan_cpu_seconds": round(statistics.median(scans), 3),
        "sync_cpu_seconds": round(statistics.median(syncs), 3),
        "scan_ratio": ratio(scans),
        "sync_ratio": ratio(syncs),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
