"""File names may hold personal data: outside the raw zone a uri is a keyed hash, a sealed text or a masked text."""

import hashlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from schemas.source import MaskOperator, Source

if TYPE_CHECKING:
    from pipelines.app import App

_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")


class Names:
    """The names of one source's files."""

    def __init__(self, app: "App", source: Source) -> None:
        self._app = app
        self._policy = source.mask
        self._state = hashlib.blake2b(key=app.key[:64], digest_size=16)
        for part in ("uri", app.kb, source.name):
            data = part.encode()
            self._state.update(len(data).to_bytes(8, "big") + data)

    def key(self, uri: str) -> str:
        """What the registry compares: 32 hex digits that tell nothing without the installation's secret."""
        state = self._state.copy()
        state.update(uri.encode("utf-8", "surrogatepass"))
        return state.hexdigest()

    def shown(self, uri: str) -> str:
        """The uri with personal data masked, as people may see it."""
        return _shown(self._app, tuple(sorted(self._policy.items())), uri)

    def sealed(self, uri: str) -> str:
        """The uri encrypted with the installation's secret; only a scan and a parser ask for it back."""
        from pipelines.mask import seal

        return seal(uri, self._app.key)


def opened(app: "App", sealed: str) -> str:
    """The uri that `Names.sealed` took."""
    from pipelines.mask import unseal

    return unseal(sealed, app.key)


def placeholder(document: str, uri: str) -> str:
    """What stands for a name until the mask layer has read the document."""
    ending = _ENDING.search(uri)
    return f"{document[:12]}{ending[0].lower() if ending else ''}"


@lru_cache(maxsize=1024)
def _shown(app: "App", policy: tuple[tuple[str, MaskOperator], ...], uri: str) -> str:
    from pipelines.mask import mask_path

    return mask_path(uri, dict(policy), app.settings.mask, app.key)
