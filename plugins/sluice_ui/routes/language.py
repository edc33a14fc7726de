"""The switch between languages."""

from fastapi import APIRouter
from starlette.responses import RedirectResponse

from sluice_ui.context import Page
from sluice_ui.i18n import COOKIE, LANGUAGES

router = APIRouter()


@router.get("/language/{code}")
def switch(page: Page, code: str, back: str = "") -> RedirectResponse:
    if code not in LANGUAGES:
        raise page.missing()
    root = page.url("/")
    # Only to a page of ours: `//host` and backslashes lead away.
    inside = back.startswith(root) and not back.startswith("//") and "\\" not in back
    response = RedirectResponse(back if inside else root, 303)
    response.set_cookie(COOKIE, code, max_age=365 * 86400, path=root, httponly=True, samesite="lax")
    return response
