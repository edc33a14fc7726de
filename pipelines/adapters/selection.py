"""Which uris of a source are wanted: its globs `include` and `exclude`."""

import re

from schemas.source import Source


class Selection:
    """`everything` is true where there is nothing to ask."""

    def __init__(self, source: Source) -> None:
        self._include = tuple(glob_pattern(one) for one in source.include)
        self._exclude = tuple(glob_pattern(one) for one in source.exclude)
        self.everything = not self._include and not self._exclude

    def __contains__(self, uri: str) -> bool:
        if self._include and not any(one.fullmatch(uri) for one in self._include):
            return False
        return not any(one.fullmatch(uri) for one in self._exclude)


def glob_pattern(glob: str) -> re.Pattern[str]:
    """A glob over uris: `*` and `?` stay inside one name, `**` crosses folders, a glob without `/` fits any depth."""
    glob = glob.removeprefix("./")
    if "/" not in glob.rstrip("/"):
        glob = f"**/{glob}"
    if glob.endswith("/"):
        glob += "**"
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]/]+\])", glob)
    return re.compile("".join(_glob_part(part) for part in parts), re.DOTALL)


def _glob_part(part: str) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part in known:
        return known[part]
    if part.startswith("[") and part.endswith("]") and len(part) > 2:
        inside = part[1:-1].replace("\\", "\\\\")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return re.escape(part)
