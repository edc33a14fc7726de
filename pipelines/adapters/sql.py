"""Rows of a table, view or query as a source, through SQLAlchemy.

Pages go by key, each a query of its own: no cursor stays open while documents are stored.
"""

import csv
import datetime
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from pipelines.adapters.remote import Busy, Patience, Secrets, named, spooled, token_of
from pipelines.adapters.rendering import ENDINGS, render
from pipelines.adapters.selection import Selection
from pipelines.errors import Code, Misconfigured, Rejected, SluiceError
from schemas.origin import SqlOrigin
from schemas.source import Source, SourceFile

if TYPE_CHECKING:
    from sqlalchemy import ColumnClause, Connection, Engine, FromClause, Select

PAGE = 500
_DENIED = frozenset(("28000", "28P01", "42501", "1044", "1045", "1142", "1143", "1227"))
"""SQLSTATE (PostgreSQL, appendix A) or the number of a MySQL error: login refused, right missing."""
_GONE = frozenset(("3D000", "42P01", "42703", "1049", "1054", "1146"))
"""No such database, table, column."""


class SqlReader:
    """One document for each row, or one table of all."""

    def __init__(self, source: Source, secrets: Secrets, patience: Patience | None = None) -> None:
        assert source.sql is not None
        self._source = source
        self._origin: SqlOrigin = source.sql
        self._where = f"source {source.name}: {source.location}"
        self._secrets = secrets
        self._patience = patience or Patience()
        self._selection = Selection(source)
        self._made: Engine | None = None
        self._keys: dict[str, Any] = {}
        self._problems: list[tuple[str, Code, str]] = []

    @property
    def problems(self) -> Sequence[tuple[str, Code, str]]:
        return tuple(self._problems)

    def files(self) -> Iterator[SourceFile]:
        """Raises as `SourceReader.files` says. With `updated` no other column than that and the key is read."""
        self._problems, self._keys = [], {}
        if self._origin.rows == "table":
            uri = f"{named(self._source.location).replace('/', '-')}.csv"
            if uri in self._selection:
                yield SourceFile(uri, token_of(*map(_token, self._rows(self._listed()))), 0, 0.0)
            return
        for row in self._rows(self._listed()):
            uri = named(str(row[self._origin.key])) + ENDINGS[self._origin.format]
            if uri in self._keys:
                raise Misconfigured(
                    Code.SCAN_BAD_LISTING, f"{self._where}: two rows have the same {self._origin.key}: it is no key"
                )
            self._keys[uri] = row[self._origin.key]
            if uri in self._selection:
                yield SourceFile(uri, _token(row), 0, _seconds(row.get(self._origin.updated or "")))

    def open(self, uri: str) -> IO[bytes]:
        if self._origin.rows == "table":
            return self._table()
        if uri not in self._keys:
            raise Rejected(Code.SCAN_UNREADABLE, "not in the listing")
        row = self._patience.item(lambda: self._row(self._keys[uri]))
        return spooled([self._document(row)], self._source.max_megabytes)

    def _listed(self) -> tuple[str, ...] | None:
        """The columns that a token is made of; None: all."""
        return (self._origin.key, self._origin.updated) if self._origin.updated else None

    def _rows(self, columns: tuple[str, ...] | None) -> Iterator[Mapping[str, Any]]:
        """All rows by key. Rows without a key are one problem together: they are no documents."""
        last: Any = None
        while True:
            page = self._patience.listing(lambda last=last: self._page(columns, last))  # type: ignore[misc]
            keyed = [row for row in page if row[self._origin.key] is not None]
            if len(keyed) < len(page):
                self._problems.append(("rows without a key", Code.SCAN_BAD_LISTING, f"rows without {self._origin.key}"))
            yield from keyed
            if len(page) < PAGE:
                return
            if not keyed:
                raise Misconfigured(Code.SCAN_BAD_LISTING, f"{self._where}: {PAGE} rows have no {self._origin.key}")
            last = keyed[-1][self._origin.key]

    def _page(self, columns: tuple[str, ...] | None, last: Any) -> list[Mapping[str, Any]]:
        place = self._place()
        key = place.c[self._origin.key]
        query = self._select(place, columns).order_by(key).limit(PAGE)
        if last is not None:
            query = query.where(key > last)
        with self._connected() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _row(self, key: Any) -> Mapping[str, Any]:
        place = self._place()
        query = self._select(place, None).where(place.c[self._origin.key] == key).limit(1)
        with self._connected() as connection:
            found = connection.execute(query).mappings().first()
        if found is None:
            raise Rejected(Code.SCAN_UNREADABLE, "gone since it was listed")
        return dict(found)

    def _place(self) -> "FromClause":
        """The table or query. Its columns carry its name: SQLite takes a lone "name" that is no column for a text."""
        from sqlalchemy import column, table, text

        columns: list[ColumnClause[Any]] = [column(name) for name in (self._origin.key, self._origin.updated) if name]
        if self._origin.query:
            return text(self._origin.query.strip().rstrip(";")).columns(*columns).subquery("sluice_rows")
        schema, _, name = self._source.location.rpartition(".")
        return table(name, *columns, schema=schema or None)

    def _select(self, place: "FromClause", columns: tuple[str, ...] | None) -> "Select[Any]":
        from sqlalchemy import literal_column, select

        wanted: list[Any] = [place.c[one] for one in columns] if columns else [literal_column("*")]
        return select(*wanted).select_from(place)

    @contextmanager
    def _connected(self) -> "Iterator[Connection]":
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with self._engine().connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise _of_source(error, self._where) from None  # the original holds the statement's values

    def _engine(self) -> "Engine":
        if self._made is None:
            self._made = _engine(self._secrets(self._origin.url).get_secret_value(), self._where)
        return self._made

    def _document(self, row: Mapping[str, Any]) -> bytes:
        origin = self._origin
        for name in (origin.title, origin.body, *origin.columns):
            if name and name not in row:
                raise Misconfigured(Code.SCAN_BAD_LISTING, f"{self._where} has no column {name}")
        used = {origin.key, origin.updated, origin.title, origin.body}
        shown = origin.columns or tuple(name for name in row if name not in used)
        facts = {name: _shown(row[name]) for name in shown}
        title = _shown(row[origin.title]) if origin.title else ""
        return render(title, facts, _shown(row[origin.body]) if origin.body else "", origin.format)

    def _table(self) -> IO[bytes]:
        try:
            return spooled(self._csv(), self._source.max_megabytes)
        except Busy as error:
            raise Rejected(Code.SCAN_UNREADABLE, error.reason) from error

    def _csv(self) -> Iterator[bytes]:
        head: list[str] = []
        for row in self._rows(None):
            buffer = io.StringIO()
            writer = csv.writer(buffer)
            if not head:
                head = list(self._origin.columns) or list(row)
                writer.writerow(head)
            writer.writerow([_shown(row.get(name)) for name in head])
            yield buffer.getvalue().encode("utf-8", "replace")


def _engine(url: str, where: str) -> "Engine":
    from sqlalchemy import create_engine
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.pool import NullPool

    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            _refuse_missing_file(parsed.database, where)
        return create_engine(parsed, poolclass=NullPool, hide_parameters=True)
    except (SQLAlchemyError, ImportError, ValueError) as error:
        # Not the error's text, which may hold the url.
        raise Misconfigured(
            Code.BAD_SOURCES, f"{where}: the url cannot be used ({type(error).__name__}); is its driver installed?"
        ) from None


def _refuse_missing_file(database: str | None, where: str) -> None:
    """SQLite would make an empty one."""
    from pathlib import Path

    if database and database != ":memory:" and not database.startswith("file:") and not Path(database).is_file():
        raise Misconfigured(Code.SCAN_SOURCE_GONE, f"{where}: the database file is not there")


def _of_source(error: Exception, where: str) -> SluiceError:
    from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

    original = error.orig if isinstance(error, DBAPIError) else None
    first = original.args[0] if original is not None and original.args else ""
    said = " ".join(str(first).split())  # SQLite has no numbers, only words
    codes = {str(one) for name in ("sqlstate", "pgcode") if (one := getattr(original, name, None))} | {said}
    short = " ".join(sorted(code for code in codes if 0 < len(code) < 10)) or type(error).__name__
    if codes & _DENIED or "unable to open database file" in said:
        return Misconfigured(Code.SCAN_SOURCE_DENIED, f"{where} may not be read ({short})")
    if codes & _GONE or said.startswith(("no such table", "no such column")):
        return Misconfigured(Code.SCAN_SOURCE_GONE, f"{where}: no such database, table or column ({short})")
    refused = "syntax error" in said or any(code.startswith("42") and len(code) == 5 for code in codes)
    if isinstance(error, OperationalError | InterfaceError) and not refused:
        return Busy(f"{where} does not answer ({short})")
    return Misconfigured(Code.SCAN_BAD_LISTING, f"{where}: the query is refused ({short})")


def _token(row: Mapping[str, Any]) -> str:
    return token_of(*(part for name, value in row.items() for part in (name, type(value).__name__, value)))


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes | bytearray | memoryview):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError as error:
            raise Rejected(Code.SCAN_UNREADABLE, "a column holds bytes that are no text") from error
    return value.isoformat(" ") if isinstance(value, datetime.datetime) else str(value)


def _seconds(value: Any) -> float:
    if isinstance(value, datetime.datetime):
        return value.timestamp()
    return float(value) if isinstance(value, int | float) else 0.0
