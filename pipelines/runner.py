"""Takes a batch of versions through a layer; the only catch-all: a failure is that one document's rejection."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from sqlalchemy import select, update

from pipelines import lifecycle
from pipelines.app import App
from pipelines.derived import working_on
from pipelines.errors import Code, Conflict, Misconfigured, Rejected, SluiceError, Systemic, Transient
from pipelines.layers import LAYERS, Layer, Work
from schemas.facts import Rejection
from schemas.source import Source
from sql import tables

log = structlog.get_logger()


@dataclass
class Tally:
    """What a batch cost and what it lost."""

    parsed: int = 0
    ocr_pages: int = 0
    llm_calls: int = 0
    rejections: list[Rejection] = field(default_factory=list)


def run_layers(app: App, versions: Sequence[str], tally: Tally, layers: Sequence[Layer] = LAYERS) -> list[str]:
    """Layer by layer over the batch; returns the versions that passed them all, now `staged`."""
    alive = list(versions)
    for layer in layers:
        alive = run_layer(app, layer, alive, tally)
    if layers and layers[-1] is LAYERS[-1]:
        for version in alive:
            with app.database.write() as tx:
                lifecycle.move_version(tx, version, "in_progress", "staged", app.actor, "passed all layers")
            app.checkpoint("staged")
    return alive


def run_layer(app: App, layer: Layer, versions: Sequence[str], tally: Tally) -> list[str]:
    """The versions that passed. Raises Systemic when nearly all failed alike, Misconfigured and Transient unchanged."""
    passed: list[str] = []
    failed: list[tuple[Work, SluiceError]] = []
    for work in _load(app, versions):
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


def _load(app: App, versions: Sequence[str]) -> list[Work]:
    v, d, s = tables.version, tables.document, tables.source
    query = (
        select(v.c.id, v.c.document, v.c.uri, v.c.sha256, v.c.artifacts, s.c.config)
        .join(d, d.c.id == v.c.document)
        .join(s, (s.c.kb == d.c.kb) & (s.c.name == d.c.source))
    )
    with app.database.read() as tx:
        rows = {row.id: row for row in tx.execute(query.where(v.c.id.in_(list(versions))))}
    return [
        Work(
            version=row.id,
            document=row.document,
            uri=row.uri,
            sha256=row.sha256,
            source=Source.model_validate(row.config),
            artifacts=dict(row.artifacts),
        )
        for row in (rows[one] for one in versions if one in rows)
    ]


def _one(app: App, layer: Layer, work: Work, tally: Tally) -> None:
    with working_on(work.version):
        outcome = layer.run(app, work)
    app.checkpoint(f"{layer.name}.made")
    tally.parsed += outcome.parsed
    tally.ocr_pages += outcome.ocr_pages
    tally.llm_calls += outcome.llm_calls
    artifacts = {**work.artifacts, layer.name: outcome.key}
    with app.database.write() as tx:
        if outcome.write:
            outcome.write(tx)
        where = (tables.version.c.id == work.version) & (tables.version.c.state == "in_progress")
        moved = tx.execute(update(tables.version).where(where).values(artifacts=artifacts, layer=layer.name))
        if moved.rowcount != 1:
            raise Conflict(Code.STATE_LOST_RACE, f"version {work.version} is no longer in progress")
    app.checkpoint(f"{layer.name}.stored")
    log.info("layer done", layer=layer.name, version=work.version, document=work.document)


def reject(app: App, work: Work, layer: str, error: SluiceError, tally: Tally) -> None:
    """Quarantine one version with its reason."""
    verdict = Rejection(subject=work.version, layer=layer, code=error.code.value, reason=error.reason)
    tally.rejections.append(verdict)
    with app.database.write() as tx:
        row = {
            **verdict.model_dump(),
            "kb": app.kb,
            "document": work.document,
            "source": work.source.name,
            "uri": work.uri,
            "at": app.clock(),
            "standing": True,
        }
        tx.execute(tables.rejection.insert().values(**row))
        reason = f"{error.code.value}: {error.reason}"
        lifecycle.move_version(tx, work.version, "in_progress", "quarantined", app.actor, reason, layer=layer)
    log.warning("rejected", layer=layer, version=work.version, code=error.code.value)


def _place(error: BaseException) -> str:
    """Innermost frame as `file:line`: enough to find the defect, and no word of the document."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}" if frame else ""
