"""The first schema: all tables of sql/tables.py."""

from alembic import op

from sql import tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    tables.metadata.create_all(op.get_bind())


def downgrade() -> None:
    tables.metadata.drop_all(op.get_bind())
