"""Create or migrate the database, and the knowledge base's row in it."""

from pathlib import Path

from sqlalchemy import column, inspect, select, table

from pipelines.app import App
from pipelines.lifecycle import record
from sql import migrations, tables


def migrate(app: App) -> None:
    """Doing it twice is harmless, and cheap; two at once wait for each other."""
    if not _done(app):
        _upgrade(app)


def _done(app: App) -> bool:
    """Whether the newest schema and the knowledge base are there; asked without Alembic, as each task does so."""
    kb, alembic = tables.knowledge_base, table("alembic_version", column("version_num"))
    if app.database.sqlite and not Path(app.database.url.database or "").is_file():
        return False
    with app.database.read() as tx:
        if not inspect(tx).has_table(alembic.name):
            return False
        newest = tx.execute(select(alembic.c.version_num)).scalar() == migrations.NEWEST
        return newest and tx.execute(select(kb.c.name).where(kb.c.name == app.kb)).first() is not None


def _upgrade(app: App) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    database = app.database
    if database.sqlite and database.url.database:
        Path(database.url.database).parent.mkdir(parents=True, exist_ok=True)
    with database.lock("migrate", wait=True):
        with database.engine.connect() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
        with database.write() as tx:
            row = {"name": app.kb, "live_release": 0, "last_release": 0, "collection": "", "embedder": ""}
            made = tx.execute(tables.insert_ignore(tables.knowledge_base), {**row, "created": app.clock()})
            if made.rowcount:
                record(tx, app.kb, app.actor, "kb.created", "kb", app.kb, "init")
