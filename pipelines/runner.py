"""Takes a batch of versions through a layer; the only catch-all: a failure is that one document's rejection."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select, update

from pipelines import lifecycle, log
from pipelines.app import App
from pipelines.derived import working_on
from pipelines.errors import Code, Conflict, Misconfigured, Rejected, SluiceError, Systemic, Transient
from pipelines.layers import LAYERS, Layer, planned, state_of, tried
from pipelines.names import Names
from pipelines.settle import settle
from pipelines.work import Work, works
from schemas.facts import Rejection
from sql import tables


@dataclass
class Tally:
    """What a batch cost and what it lost."""

    parsed: int = 0
    ocr_pages: int = 0
    llm_calls: int = 0
    staged: int = 0
    rejections: list[Rejection] = field(default_factory=list)


def run_layers(app: App, versions: Sequence[str], tally: Tally, layers: Sequence[Layer] = LAYERS) -> list[str]:
    """Layer by layer over the batch; returns the versions that passed. After the last layer they are settled."""
    alive = list(versions)
    for layer in layers:
        alive = run_layer(app, layer, alive, tally)
    if layers and layers[-1] is LAYERS[-1]:
        for version in alive:
            tally.staged += settle(app, version)
            app.checkpoint("staged")
    return alive


def run_layer(app: App, layer: Layer, versions: Sequence[str], tally: Tally) -> list[str]:
    """The versions that passed. Raises Systemic when nearly all failed alike, Misconfigured and Transient unchanged."""
    passed: list[str] = []
    failed: list[tuple[Work, SluiceError]] = []
    for work in works(app, versions):
        try:
            _one(app, layer, work, tally)
            passed.append(work.version)
        except (Misconfigured, Transient, Systemic):
            raise
        except SluiceError as error:
            failed.append((work, error))
        except Exception as error:
            log.error(
                "layer failed", layer=layer.name, version=work.version, error=type(error).__name__, at=_place(error)
            )
            # The message of a foreign exception may quote the document: only its type is kept.
            failed.append((work, Rejected(Code.INTERNAL, f"{type(error).__name__} in layer {layer.name}")))
    code, worst = Counter(error.code.value for _, error in failed).most_common(1)[0] if failed else ("", 0)
    if len(versions) >= 10 and worst > app.settings.runner.systemic_share * len(versions):
        # Before any is rejected: it is not the documents, and the next run takes them all again.
        raise Systemic(Code.SYSTEMIC, f"{worst} of {len(versions)} documents failed in {layer.name} with {code}")
    for work, verdict in failed:
        reject(app, work, layer.name, verdict, tally)
    return passed


def _one(app: App, layer: Layer, work: Work, tally: Tally) -> None:
    started = time.perf_counter()
    with working_on(work.version):
        key = layer.key(app, work)
        outcome = layer.run(app, work, key)
    seconds = round(time.perf_counter() - started, 3)
    app.checkpoint(f"{layer.name}.made")
    tally.parsed += outcome.parsed
    tally.ocr_pages += outcome.ocr_pages
    tally.llm_calls += outcome.llm_calls
    values: dict[str, Any] = {"artifacts": {**work.artifacts, layer.name: key}, "layer": layer.name}
    if layer is LAYERS[-1]:
        values["fingerprint"] = _fingerprint(app, work)
    with app.database.write() as tx:
        times = _facts(tx, work.version).get("seconds", {})
        if outcome.write:
            outcome.write(tx)
        # The longest time that the layer took: a run that finds its artifact takes none.
        times = {**times, layer.name: max(seconds, times.get(layer.name, 0.0))}
        values["facts"] = {**_facts(tx, work.version), "seconds": times}
        where = (tables.version.c.id == work.version) & (tables.version.c.state == "in_progress")
        moved = tx.execute(update(tables.version).where(where).values(**values))
        if moved.rowcount != 1:
            raise Conflict(Code.STATE_LOST_RACE, f"version {work.version} is no longer in progress")
    app.checkpoint(f"{layer.name}.stored")
    named = {"version": work.version, "document": work.document, "source": work.source.name}
    cost = {"seconds": seconds, "ocr_pages": outcome.ocr_pages, "llm_calls": outcome.llm_calls}
    log.info("layer done", layer=layer.name, **named, **cost)


def _facts(tx: Connection, version: str) -> dict[str, Any]:
    return tx.execute(select(tables.version.c.facts).where(tables.version.c.id == version)).scalar() or {}


def _fingerprint(app: App, work: Work) -> str:
    """Of code and settings, not of a forced run: such a run is no reason to run once more."""
    return state_of(planned(app, replace(work, token="")))


def reject(app: App, work: Work, layer: str, error: SluiceError, tally: Tally) -> None:
    """Quarantine one version with its reason."""
    verdict = Rejection(subject=work.version, layer=layer, code=error.code.value, reason=error.reason)
    tally.rejections.append(verdict)
    shown = Names(app, work.source).shown(work.uri)
    row = {
        **verdict.model_dump(),
        "kb": app.kb,
        "document": work.document,
        "source": work.source.name,
        "uri": shown[:2048],
        "at": app.clock(),
        "standing": True,
        "fingerprint": tried(app, work, layer),
    }
    stands = {"fingerprint": _fingerprint(app, work), "uri": shown[:2048]}
    with app.database.write() as tx:
        tx.execute(tables.rejection.insert().values(**row))
        tx.execute(update(tables.version).where(tables.version.c.id == work.version).values(**stands))
        tx.execute(update(tables.document).where(tables.document.c.id == work.document).values(uri=shown[:2048]))
        reason = f"{error.code.value}: {error.reason}"
        lifecycle.move_version(tx, work.version, "in_progress", "quarantined", app.actor, reason, layer=layer)
    log.warning("rejected", layer=layer, version=work.version, code=error.code.value)


def _place(error: BaseException) -> str:
    """Innermost frame as `file:line`: enough to find the defect, and no word of the document."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}" if frame else ""
