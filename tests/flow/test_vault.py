"""Reversible masking and the language model's cache: kept with their version, and gone with it."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select

from pipelines.adapters.language_model import OpenAILanguageModel
from pipelines.derived import StoredReplies
from pipelines.errors import Code, Conflict
from pipelines.mask.settings import MaskSettings
from pipelines.publish.forget import forget
from pipelines.settings import LlmSettings
from pipelines.vault import reveal
from sql import tables
from tests.fakes_model import ModelServer, says
from tests.flow.conftest import Kb

PHONE = "13812345678"


def with_vault(kb: Kb) -> str:
    """A published document whose telephone number is in the vault; its token."""
    mask = MaskSettings(operators={"PHONE": "vault"})
    kb.app = replace(kb.app, settings=kb.app.settings.model_copy(update={"mask": mask}))
    kb.write("desk", f"Call the service desk at {PHONE} in the night.", "Nobody answers at noon.")
    kb.release()
    text = next(one["text"] for one in kb.hits("call the service desk") if "Call the" in one["text"])
    token = text.partition("at ")[2].partition(" in")[0]
    assert token.startswith("<PHONE_")
    return token


def test_a_token_tells_its_value_to_who_gives_a_reason_and_the_audit_knows(kb: Kb) -> None:
    token = with_vault(kb)
    assert reveal(kb.app, token, "call the customer back")["values"] == [PHONE]
    with kb.app.database.read() as tx:
        row = tx.execute(select(tables.audit).where(tables.audit.c.action == "vault.reveal")).one()
        assert (row.subject, row.reason, row.actor) == (token, "call the customer back", "tester")
        assert PHONE not in str(tx.execute(select(tables.vault)).all())


def test_another_key_opens_nothing_and_an_unknown_token_is_named(kb: Kb) -> None:
    token = with_vault(kb)
    settings = kb.app.settings.model_validate({**kb.app.settings.model_dump(), "vault_key": "another"})
    for app, asked in ((replace(kb.app, settings=settings), token), (kb.app, "<PHONE_AAAAAAAA>")):
        with pytest.raises(Conflict) as caught:
            reveal(app, asked, "curious")
        assert caught.value.code is Code.VAULT_UNKNOWN


def test_an_erasure_empties_the_vault_of_its_document(kb: Kb) -> None:
    token = with_vault(kb)
    forget(kb.app, "document", kb.document("Nobody answers"), "asked for")
    with pytest.raises(Conflict):
        reveal(kb.app, token, "too late")


def test_an_edit_asks_the_model_about_the_new_passage_only_and_erasure_empties_the_cache(kb: Kb) -> None:
    reply = says('{"keywords": ["Lunch"], "entities": [], "relations": []}')
    with ModelServer([reply]) as server:
        settings = LlmSettings(base_url=server.url, model="m")
        model = OpenAILanguageModel(settings, StoredReplies(kb.app.database))
        kb.app = replace(kb.app, llm=lambda: model)
        try:
            asked_and_erased(kb)
        finally:
            model.close()


def asked_and_erased(kb: Kb) -> None:
    first = kb.sync().as_json()["calls"]["llm"]
    assert first == 10
    assert kb.sync(full=True).as_json()["calls"]["llm"] == 0
    kb.write("leave", "Annual leave is twenty five days for everybody.", "Holidays never expire any more.")
    assert kb.sync().as_json()["calls"]["llm"] == 1
    with kb.app.database.read() as tx:
        count = select(func.count()).select_from(tables.llm_cache)
        assert tx.execute(count).scalar_one() == 11
    forget(kb.app, "source", "notes", "asked for")
    with kb.app.database.read() as tx:
        assert tx.execute(count).scalar_one() == 0
