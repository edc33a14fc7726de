"""One class over SQLite (WAL) and MySQL / MariaDB: short transactions and named locks that die with their holder."""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, OperationalError

from pipelines.errors import Code, Conflict, Transient


class Database:
    """`read()` is a snapshot, `write()` one transaction that commits at the end of the block or not at all."""

    def __init__(self, url: str, lock_folder: Path) -> None:
        self.url = make_url(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self._locks = lock_folder
        if self.sqlite:
            self.engine = create_engine(self.url, connect_args={"timeout": 60, "check_same_thread": False})
            event.listen(self.engine, "connect", _sqlite_pragmas)
        else:
            self.engine = create_engine(self.url, pool_pre_ping=True, isolation_level="REPEATABLE READ")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._transaction("BEGIN" if self.sqlite else "") as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        # IMMEDIATE: take SQLite's write lock at once, so that a read never turns into a write on a stale snapshot.
        with self._transaction("BEGIN IMMEDIATE" if self.sqlite else "") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        try:
            with self.engine.connect() as connection, connection.begin():
                if begin:
                    connection.exec_driver_sql(begin)
                yield connection
        except OperationalError as error:
            raise Transient(Code.DATABASE_DOWN, f"the database did not answer: {error.orig}") from error
        except DBAPIError as error:
            if error.connection_invalidated:
                raise Transient(Code.DATABASE_DOWN, f"the connection was lost: {error.orig}") from error
            raise

    def tuples(self, tx: Connection, query: Any) -> Iterator[Any]:
        """Rows of a query as the driver gives them: a tenth of the cost of SQLAlchemy's rows, for very long results."""
        compiled = query.compile(self.engine, compile_kwargs={"render_postcompile": True})
        values = compiled.params
        bound = tuple(values[name] for name in compiled.positiontup) if compiled.positional else values
        cursor: Any = tx.connection.cursor()
        try:
            cursor.execute(str(compiled), bound)
            yield from cursor  # one by one: a batch of thousands would only wake the collector of cycles
        finally:
            cursor.close()

    @contextmanager
    def lock(self, name: str, wait: bool = False) -> Iterator[None]:
        """Hold the lock `name`, over all processes. Raises Conflict(LOCKED) at once when it is taken and not `wait`."""
        holder = self._file_lock(name, wait) if self.sqlite else self._server_lock(name, wait)
        with holder:
            yield

    @contextmanager
    def _file_lock(self, name: str, wait: bool) -> Iterator[None]:
        self._locks.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._locks / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError as error:
                raise Conflict(Code.LOCKED, f"another run holds {name!r}; try again when it has ended") from error
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def _server_lock(self, name: str, wait: bool) -> Iterator[None]:
        # GET_LOCK belongs to its connection: the server frees it when the holder dies.
        full = f"sluice:{self.url.database}:{name}"[:64]
        with self.engine.connect() as connection:
            taken = connection.execute(text("SELECT GET_LOCK(:n, :t)"), {"n": full, "t": 3600 if wait else 0}).scalar()
            connection.commit()
            if taken != 1:
                raise Conflict(Code.LOCKED, f"another run holds {name!r}; try again when it has ended")
            try:
                yield
            finally:
                connection.execute(text("SELECT RELEASE_LOCK(:n)"), {"n": full})
                connection.commit()

    def scrub(self, tables: Iterable[str]) -> str:
        """Rewrite the files in which deleted rows of these tables may still be readable; says how."""
        with self.engine.connect() as connection:
            if self.sqlite:
                connection.exec_driver_sql("VACUUM")
                busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()
                return "vacuumed" if not busy else "vacuumed; the write-ahead log is emptied when its readers are gone"
            for name in tables:
                connection.exec_driver_sql(f"OPTIMIZE TABLE `{name}`")
            return "tables rebuilt; the server's binary logs expire by its own settings"

    def dispose(self) -> None:
        self.engine.dispose()


def _sqlite_pragmas(connection: Any, _record: Any) -> None:
    # The driver must not open transactions of its own: `_transaction` says when and how.
    connection.isolation_level = None
    # 32 MB of pages: ids fall all over their tables, and the default of 2 MB reads most of them from the file again.
    settings = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=60000", "cache_size=-32000")
    for pragma in settings:
        connection.execute(f"PRAGMA {pragma}")
