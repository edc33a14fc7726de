"""The numbers behind the charts."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

from sqlalchemy import Connection, func, select

from pipelines.publish.rows import visible_versions
from sql import tables


def shown_versions(tx: Connection, kb: str, number: int, scope: str) -> list[str]:
    """The versions that readers see at the release, or that it would bring."""
    return _staged(tx, kb, number) if scope == "staged" else sorted(visible_versions(tx, kb, number).values())


def figures(tx: Connection, kb: str, versions: Sequence[str]) -> dict[str, Any]:
    """Of these versions; outcomes are of the whole kb."""
    v, x = tables.version, tables.rejection
    states = tx.execute(select(v.c.state, func.count()).where(v.c.kb == kb).group_by(v.c.state)).all()
    codes = select(x.c.code, func.count()).where(x.c.kb == kb, x.c.standing.is_(True)).group_by(x.c.code)
    facts = [
        row for part in _parts(versions) for row in tx.execute(select(v.c.facts).where(v.c.id.in_(part))).scalars()
    ]
    return {
        "documents": len(versions),
        "outcomes": dict(sorted((str(state), count) for state, count in states)),
        "rejections": dict(tx.execute(codes.order_by(func.count().desc(), x.c.code).limit(20)).all()),
        "masking": _masking(tx, versions),
        "duplicates": _duplicates(tx, versions),
        **_parsing(facts),
    }


def _parts(values: Sequence[str]) -> list[Sequence[str]]:
    return [values[start : start + 500] for start in range(0, len(values), 500)]


def _staged(tx: Connection, kb: str, number: int) -> list[str]:
    item = tables.release_item
    where = (item.c.kb == kb) & (item.c.release == number) & item.c.version.is_not(None)
    return sorted(tx.execute(select(item.c.version).where(where)).scalars())


def _masking(tx: Connection, versions: Sequence[str]) -> dict[str, int]:
    """Masked values by type; what a policy keeps (places, organisations) is none."""
    p = tables.pii_finding
    found: Counter[str] = Counter()
    for part in _parts(versions):
        query = select(p.c.type, func.sum(p.c.count)).where(p.c.version.in_(part), p.c.operator != "keep")
        found.update({str(type_): int(count) for type_, count in tx.execute(query.group_by(p.c.type))})
    return dict(found.most_common())


def _duplicates(tx: Connection, versions: Sequence[str]) -> dict[str, int]:
    """Links of the versions' chunks by what the two texts are to each other."""
    vc, link = tables.version_chunk, tables.duplicate_link
    found: dict[tuple[str, str], str] = {}
    for part in _parts(versions):
        for side in (link.c.a, link.c.b):
            query = select(link.c.a, link.c.b, link.c.outcome).join(vc, vc.c.chunk == side)
            rows = tx.execute(query.where(vc.c.version.in_(part)))
            found.update({(a, b): outcome for a, b, outcome in rows})
    return dict(Counter(found.values()).most_common())


def _parsing(facts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Pages, pages read by OCR, and seconds that parsing took; of documents that say so."""
    pages = sum(int(one.get("pages", 0)) for one in facts)
    ocr = sum(int(one.get("ocr_pages", 0)) for one in facts)
    seconds = sorted(float(one["seconds"]["parse"]) for one in facts if "parse" in one.get("seconds", {}))
    return {"pages": pages, "ocr_pages": ocr, "parse_seconds": _spread(seconds) if seconds else {}}


def _spread(ordered: Sequence[float]) -> dict[str, float]:
    slow = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return {"median": round(median(ordered), 3), "p95": round(slow, 3), "total": round(sum(ordered), 3)}
