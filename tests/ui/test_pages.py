"""Each page draws, in both languages, before and after the first release."""

import pytest

from tests.ui.conftest import Browser, Kb

PAGES = ["/", "/releases"]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_draws_for_an_empty_and_for_a_full_knowledge_base(
    kb: Kb, admin: Browser, path: str, language: str
) -> None:
    assert "<main" in admin.get(path, accept_language=language)
    kb.release()
    kb.write("leave", "Annual leave is thirty days for everybody.")
    kb.sync()
    assert "<main" in admin.get(path, accept_language=language)
