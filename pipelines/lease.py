"""Who may work on a knowledge base: a row that outlives one process, for runs of several tasks, and a lock that dies
with its process, for the command line. Neither can be blocked for ever by a dead one."""

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import delete, select, update

from pipelines import log
from pipelines.errors import Code, Conflict
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App

SECONDS = 900.0
"""A run whose tasks have shown no life for this long is taken as dead."""
BEAT = 60.0


@contextmanager
def held_by_process(app: "App", name: str) -> Iterator[None]:
    """For the length of the block. Raises Conflict(LOCKED) beside another holder that lives."""
    holder = f"process {os.getpid()} {secrets.token_hex(4)}"
    with app.database.lock(f"{name}-{app.kb}"):
        # Who noted itself as a process and does not hold the lock is dead.
        _claim(app, name, holder, process=True)
        try:
            yield
        finally:
            release(app, name, holder)


@contextmanager
def held_by_run(app: "App", name: str, holder: str) -> Iterator[None]:
    """One task of a run: renews at the start, while it works, and at the end; `release` ends it.

    Raises Conflict(LOCKED) when another holder lives.
    """
    if not _renew(app, name, holder):
        with app.database.lock(f"{name}-{app.kb}"):
            _claim(app, name, holder, process=False)
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(BEAT):
            _renew(app, name, holder)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        _renew(app, name, holder)


def release(app: "App", name: str, holder: str) -> None:
    """Let go; harmless when it is not held."""
    table = tables.lease
    with app.database.write() as tx:
        tx.execute(delete(table).where(table.c.kb == app.kb, table.c.name == name, table.c.holder == holder))


def _renew(app: "App", name: str, holder: str) -> bool:
    table = tables.lease
    mine = (table.c.kb == app.kb) & (table.c.name == name) & (table.c.holder == holder)
    with app.database.write() as tx:
        return tx.execute(update(table).where(mine).values(until=app.clock() + SECONDS)).rowcount == 1


def _claim(app: "App", name: str, holder: str, *, process: bool) -> None:
    table = tables.lease
    key = (table.c.kb == app.kb) & (table.c.name == name)
    now = app.clock()
    with app.database.write() as tx:
        row = tx.execute(select(table).where(key).with_for_update()).first()
        if row is not None and not row.process and row.holder != holder and row.until > now:
            waits = f"it is taken as dead in {row.until - now:.0f} s unless it shows life"
            raise Conflict(Code.LOCKED, f"{row.holder} of {row.actor} holds {name!r}: wait for its end; {waits}")
        tx.execute(delete(table).where(key))
        if row is not None and row.holder != holder:
            log.warning("a run was cut off; this one goes on from where it was", name=name, run=row.holder)
        values = {"kb": app.kb, "name": name, "holder": holder, "actor": app.actor, "process": process}
        tx.execute(table.insert().values(**values, since=now, until=now + SECONDS))
