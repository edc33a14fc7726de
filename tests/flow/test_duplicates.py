"""A reviewer looks at two linked texts and overrules the machine; later syncs respect it."""

import pytest
from sqlalchemy import select

from pipelines.errors import Conflict
from pipelines.review.duplicates import overrule, pair, partners
from sql import tables
from tests.flow.conftest import Kb

RULE = "The canteen opens at noon and serves guests of the office who have a valid visitor badge with them."
SHORT = RULE + " Dishes are returned to the counter by everyone who eats there."


def visible(kb: Kb, words: str) -> int:
    return sum(words in one["text"] for one in kb.hits(words))


def linked(kb: Kb) -> tuple[str, str]:
    with kb.app.database.read() as tx:
        table = tables.duplicate_link
        a, b = tx.execute(select(table.c.a, table.c.b).where(table.c.drop.is_(True))).one()
    return str(a), str(b)


def test_an_overruled_verdict_shows_both_texts_and_survives_syncs(kb: Kb) -> None:
    kb.write("guests", RULE)
    kb.write("visitors", RULE.replace(",", "").replace("serves", "serves "))
    kb.release()
    assert visible(kb, "valid visitor badge") == 1
    one, other = linked(kb)
    assert [link["drop"] for link in partners(kb.app, one)] == [True]
    overrule(kb.app, one, other, "different", "two houses")
    kb.write("news", "The lift is repaired on Friday, please take the stairs until then.")
    kb.release()
    assert visible(kb, "valid visitor badge") == 2
    kb.write("news", "The lift works again, and the stairs are closed for cleaning until Monday.")
    kb.release()
    assert visible(kb, "valid visitor badge") == 2
    shown = pair(kb.app, other, one)
    assert shown["decided"] == "different" and not shown["drop"]


def test_the_spans_that_differ_are_told_on_the_masked_texts(kb: Kb) -> None:
    kb.write("guests", RULE)
    kb.write("visitors", SHORT)
    kb.release()
    shown = pair(kb.app, *linked(kb))
    (change,) = shown["changes"]
    longer = "a" if len(shown["a"]["text"]) > len(shown["b"]["text"]) else "b"
    assert "Dishes" in shown[longer]["text"][change[f"{longer}_start"] : change[f"{longer}_end"]]
    assert visible(kb, "Dishes are returned") == 1 and visible(kb, "valid visitor badge") == 1
    with pytest.raises(Conflict):
        pair(kb.app, "nothing", "else")
