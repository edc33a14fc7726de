"""Alembic runs the migrations inside the connection that `pipelines.migrate` hands over."""

from alembic import context

from sql import tables

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=tables.metadata)
with context.begin_transaction():
    context.run_migrations()
