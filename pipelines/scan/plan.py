"""What a listing means for the registry. Pure: the only effect is the function that hashes a file."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Literal, NamedTuple

from schemas.base import Record
from schemas.source import Source, SourceFile

_BLOCK = 1 << 20


class Known(NamedTuple):
    """A document as the registry last saw it."""

    document: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Found:
    """A listed file that was opened, with its content's hash and its document (None: not known yet)."""

    file: SourceFile
    sha256: str
    document: str | None = None
    before: str | None = None
    """The key of the uri that a renamed document had."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The difference between registry and listing."""

    new: tuple[Found, ...]
    changed: tuple[Found, ...]
    touched: tuple[Found, ...]
    """The token changed, the content did not."""
    renamed: tuple[Found, ...]
    removed: tuple[str, ...]
    """Keys of known uris that are gone, sorted."""
    unreadable: tuple[str, ...]
    """Listed uris that could not be hashed: what is known of them stays as it is."""
    known: int
    seen: int
    unchanged: int
    opened: int
    hashed: int
    held: int
    """Known uris that are not listed, but lie where the listing met a problem: kept."""


class BreakerTrip(Record):
    """Too much of a source would vanish: nothing is removed until a person confirms."""

    source: str
    kind: Literal["empty", "permission_lost", "deleted"]
    would_remove: int
    reason: str


def _itself(uri: str) -> str:
    return uri


def plan(
    tokens: Mapping[str, str],
    known: Callable[[str], Known],
    listed: Iterable[SourceFile],
    hash_file: Callable[[str], str],
    held: Callable[[], Iterable[str]] = tuple,
    key: Callable[[str], str] = _itself,
    uri_of: Callable[[str], str] = _itself,
) -> Plan:
    """Compare by token first; only files whose token is new or changed are opened, through `hash_file`.

    `tokens` go by `key(uri)`; `known` and `uri_of` tell more of the few keys that have changed or vanished. Strings by
    strings: with hundreds of thousands of records the collector of cycles costs more than the scan. `hash_file` returns
    '' for a file that cannot be read. `held`, asked after the listing, are uris with a problem (a folder's ends in
    `/`): what is known there is not taken as removed.
    """
    fresh: list[Found] = []
    changed: list[Found] = []
    touched: list[Found] = []
    unreadable: list[str] = []
    present: set[str] = set()
    unchanged = 0
    for file in listed:
        name = key(file.uri)
        before = tokens.get(name)
        present.add(name)
        if before == file.token:
            unchanged += 1
            continue
        sha256 = hash_file(file.uri)
        if not sha256:
            unreadable.append(file.uri)
        elif before is None:
            fresh.append(Found(file, sha256))
        else:
            held_as = known(name)
            (touched if held_as.sha256 == sha256 else changed).append(Found(file, sha256, held_as.document))
    gone, problems = tokens.keys() - present, set(held())
    vanished = {name: uri_of(name) for name in gone} if fresh or problems else {}
    kept = _held(vanished, problems)
    homes = {name: (uri, known(name)) for name, uri in vanished.items() if fresh and name not in kept}
    new, renamed = _renames(fresh, homes)
    left = {one.before for one in renamed} | kept
    opened = len(fresh) + len(changed) + len(touched) + len(unreadable)
    return Plan(
        new=tuple(new),
        changed=tuple(changed),
        touched=tuple(touched),
        renamed=tuple(renamed),
        removed=tuple(sorted(name for name in gone if name not in left)),
        unreadable=tuple(unreadable),
        known=len(tokens),
        seen=len(present),
        unchanged=unchanged,
        opened=opened,
        hashed=opened - len(unreadable),
        held=len(kept),
    )


def _held(vanished: Mapping[str, str], problems: Collection[str]) -> set[str]:
    folders = tuple(uri for uri in problems if uri.endswith("/"))
    return {name for name, uri in vanished.items() if uri in problems or (folders and uri.startswith(folders))}


def _renames(fresh: Iterable[Found], vanished: Mapping[str, tuple[str, Known]]) -> tuple[list[Found], list[Found]]:
    """Pair new files with vanished ones of the same content, each at most once; the same file name goes first."""
    homes: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, (uri, gone) in sorted(vanished.items(), key=lambda one: one[1][0]):
        homes[gone.sha256].append((PurePosixPath(uri).name, key))
    new: list[Found] = []
    renamed: list[Found] = []
    waiting: list[Found] = []
    for one in sorted(fresh, key=lambda found: found.file.uri):
        name = PurePosixPath(one.file.uri).name
        match = next((home for home in homes.get(one.sha256, ()) if home[0] == name), None)
        if match is None:
            waiting.append(one)
        else:
            homes[one.sha256].remove(match)
            renamed.append(Found(one.file, one.sha256, vanished[match[1]][1].document, match[1]))
    for one in waiting:
        if candidates := homes.get(one.sha256):
            key = candidates.pop(0)[1]
            renamed.append(Found(one.file, one.sha256, vanished[key][1].document, key))
        else:
            new.append(one)
    return new, renamed


def breaker(made: Plan, source: Source) -> BreakerTrip | None:
    """Whether the removals pass the source's limits, and what they look like."""
    gone = len(made.removed)
    if not gone:
        return None
    limit = source.breaker
    if made.seen == 0 and not made.held:
        kind, why = "empty", "the source lists no file at all: is it mounted, and is its location right?"
    elif gone <= limit.documents and gone <= limit.share * made.known:
        return None
    elif made.held or made.unreadable:
        kind, why = "permission_lost", "other parts of the source cannot be read: were permissions lost?"
    else:
        kind, why = "deleted", f"more than the limit of {limit.share:.0%} or {limit.documents} documents was deleted"
    return BreakerTrip(
        source=source.name,
        kind=kind,
        would_remove=gone,
        reason=f"{gone} of {made.known} documents would be removed; {why}",
    )


def hash_stream(stream: IO[bytes], copy: IO[bytes] | None = None) -> str:
    """SHA-256 as hex, read in blocks of 1 MiB; what is read is also written to `copy`."""
    state = hashlib.sha256()
    while block := stream.read(_BLOCK):
        state.update(block)
        if copy is not None:
            copy.write(block)
    return state.hexdigest()
