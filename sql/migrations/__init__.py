"""The schema's history, run by Alembic."""

NEWEST = "0001"
