"""What the state layer asks of a database, on SQLite and on a real MariaDB."""

from dataclasses import replace
from pathlib import Path

import pytest
from alembic.runtime.migration import MigrationContext
from alembic.util import CommandError
from sqlalchemy import func, select, text, update

from pipelines import lifecycle
from pipelines.adapters.database import Database
from pipelines.app import App
from pipelines.errors import Code, Conflict
from pipelines.migrate import migrate
from sql import migrations, tables


def test_migrating_twice_changes_nothing(app: App) -> None:
    migrate(app)
    with app.database.read() as tx:
        assert tx.execute(select(func.count()).select_from(tables.knowledge_base)).scalar_one() == 1


def test_the_newest_migration_is_named(app: App) -> None:
    folder = Path(migrations.__file__).parent / "versions"
    assert max(path.stem.split("_")[0] for path in folder.glob("[0-9]*.py")) == migrations.NEWEST
    with app.database.engine.connect() as connection:
        assert MigrationContext.configure(connection).get_current_revision() == migrations.NEWEST


def test_another_revision_is_not_taken_for_the_newest(app: App) -> None:
    with app.database.write() as tx:
        tx.execute(text("update alembic_version set version_num = '0000'"))
    with pytest.raises(CommandError, match="0000"):
        migrate(app)


def test_a_write_that_fails_leaves_nothing(app: App) -> None:
    with pytest.raises(RuntimeError), app.database.write() as tx:
        tx.execute(tables.access_set.insert().values(principals="everyone"))
        raise RuntimeError
    with app.database.read() as tx:
        assert tx.execute(select(func.count()).select_from(tables.access_set)).scalar_one() == 0


def test_an_insert_of_a_known_key_is_left_out(app: App) -> None:
    for _ in range(2):
        with app.database.write() as tx:
            tx.execute(tables.insert_ignore(tables.access_set), {"principals": "team:Ä"})
    with app.database.write() as tx:
        tx.execute(tables.insert_ignore(tables.access_set), {"principals": "team:a"})
    with app.database.read() as tx:
        assert tx.execute(select(func.count()).select_from(tables.access_set)).scalar_one() == 2


def test_a_lock_is_held_by_one(app: App, tmp_path: Path) -> None:
    other = Database(app.database.url.render_as_string(hide_password=False), tmp_path / "home" / "locks")
    with app.database.lock("sync"), pytest.raises(Conflict) as refused, other.lock("sync"):
        pass
    assert refused.value.code is Code.LOCKED
    with other.lock("sync"):
        pass
    other.dispose()


def test_the_audit_chain_shows_a_changed_row(app: App) -> None:
    with app.database.write() as tx:
        for number in range(3):
            lifecycle.record(tx, app.kb, "admin", "test", "kb", app.kb, f"原因 {number}", number=number)
    with app.database.read() as tx:
        assert lifecycle.verify_audit(tx) == (4, None)
    with app.database.write() as tx:
        tx.execute(update(tables.audit).where(tables.audit.c.sequence == 2).values(reason="something else"))
    with app.database.read() as tx:
        assert lifecycle.verify_audit(tx)[1] == 2


def test_seconds_keep_their_fraction(app: App) -> None:
    at = 1_796_023_319.125
    with app.database.write() as tx:
        values = {"kb": app.kb, "release": 1, "at": at, "report": {}}
        tx.execute(tables.eval_run.insert().values(**values))
    with app.database.read() as tx:
        assert tx.execute(select(tables.eval_run.c.at)).scalar_one() == at


def test_two_knowledge_bases_share_one_chain(app: App) -> None:
    second = replace(app, kb="other")
    migrate(second)
    with app.database.read() as tx:
        assert lifecycle.verify_audit(tx)[1] is None
