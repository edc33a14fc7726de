"""Create or migrate the database, and the knowledge base's row in it."""

from pathlib import Path

from pipelines.app import App
from pipelines.lifecycle import record
from sql import migrations, tables


def migrate(app: App) -> None:
    """Doing it twice is harmless; two at once wait for each other."""
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
