"""Documents inside of documents (attachments, members of archives) in SQL: what befalls one befalls what it holds.

A chain of holders has at most `children.MAX_DEPTH` links, so plain joins follow it on every database.
"""

from typing import Any

from sqlalchemy import Select, or_, select

from sql import tables


def holders(document: Any) -> tuple[Any, Any]:
    """Id of the document that holds this one (an expression), and of the one that holds that; NULL where none does."""
    inner, outer = tables.document.alias(), tables.document.alias()
    # `correlate_except`: `document` may belong to any query around, not only to the nearest.
    holder = select(inner.c.parent).where(inner.c.id == document).correlate_except(inner).scalar_subquery()
    return holder, select(outer.c.parent).where(outer.c.id == holder).correlate_except(outer).scalar_subquery()


def held_by(document: Any) -> Select[Any]:
    """Ids of all documents inside of this one (an id, or a query of ids)."""
    inner, outer = tables.document.alias(), tables.document.alias()
    within = document if isinstance(document, Select) else [document]
    return (
        select(inner.c.id)
        .outerjoin(outer, outer.c.id == inner.c.parent)
        .where(or_(inner.c.parent.in_(within), outer.c.parent.in_(within)))
    )
