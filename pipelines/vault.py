"""The reversible vault: originals of masked values, sealed with a key of their own, for those who hold it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from pipelines import lifecycle
from pipelines.errors import Code, Conflict, Rejected
from sql import tables

if TYPE_CHECKING:
    from pipelines.app import App
    from pipelines.mask import Vaulted


def vault_key(app: "App") -> bytes:
    """The setting's, else the installation's own secret."""
    return app.settings.vault_key.get_secret_value().encode() or app.key


def keep(app: "App", version: str, entries: Iterable["Vaulted"]) -> None:
    """Doing it twice is harmless."""
    rows = [
        {"version": version, "token": one.pseudonym, "kb": app.kb, "type": one.type, "sealed": one.sealed}
        for one in entries
    ]
    if rows:
        with app.database.write() as tx:
            tx.execute(tables.insert_ignore(tables.vault), rows)


def reveal(app: "App", token: str, reason: str) -> dict[str, Any]:
    """The original behind a token; who asked, and why, is in the audit before it is told.

    Raises Conflict(VAULT_UNKNOWN).
    """
    from pipelines.mask import unseal

    table = tables.vault
    with app.database.write() as tx:
        where = (table.c.kb == app.kb) & (table.c.token == token)
        rows = tx.execute(select(table.c.type, table.c.sealed).where(where).order_by(table.c.version)).all()
        lifecycle.record(tx, app.kb, app.actor, "vault.reveal", "token", token, reason, found=bool(rows))
    if not rows:
        raise Conflict(Code.VAULT_UNKNOWN, f"the vault holds nothing for {token}")
    try:
        values = list(dict.fromkeys(unseal(row.sealed, vault_key(app)) for row in rows))
    except Rejected as error:
        raise Conflict(Code.VAULT_UNKNOWN, error.reason) from error
    return {"schema": "sluice.reveal/1", "token": token, "type": rows[0].type, "values": values}
