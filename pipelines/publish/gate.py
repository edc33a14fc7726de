"""What must hold before a release goes live: no text that looks like raw personal data."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from pipelines.errors import Code, SluiceError

if TYPE_CHECKING:
    from pipelines.app import App


def run_gate(app: "App", number: int, opened: list[Any]) -> dict[str, Any]:
    """The verdict as stored with the release. Raises SluiceError(GATE_FAILED) when the release may not go live."""
    from pipelines.mask import leaks

    found: Counter[str] = Counter()
    for row in opened:
        for type_ in leaks(f"{row.context}\n{row.text}"):
            found[type_] += 1
    if found:
        named = ", ".join(f"{count} x {type_}" for type_, count in sorted(found.items()))
        raise SluiceError(Code.GATE_FAILED, f"release {number} holds what looks like personal data: {named}")
    return {"verdict": "pass", "leaks": 0, "rows": len(opened)}
