"""Small charts as inline SVG: no script, nothing loaded, every word escaped."""

from collections.abc import Mapping, Sequence
from html import escape

INK, SOFT, LINE = "currentColor", "#7a8896", "#c3ccd6"
"""Readable on light and dark ground."""
COLOURS = ("#2f6fb2", "#3c9a6c", "#d08a1d", "#b5483f", "#7a5ea8", "#5b6b7c", "#2a9aa8", "#a8672a")
BAR, GAP = 20, 8
LABEL, VALUE = 150, 70


def bars(values: Mapping[str, float], *, width: int = 460, title: str = "", colour: str = COLOURS[0]) -> str:
    """Horizontal bars with their numbers, in the given order."""
    if not values:
        return ""
    most = max(values.values()) or 1
    room = width - LABEL - VALUE
    parts = []
    for n, (name, value) in enumerate(values.items()):
        y = n * (BAR + GAP)
        long = max(1.5, room * value / most) if value else 0
        parts.append(
            f'<text x="{LABEL - 8}" y="{y + 15}" text-anchor="end" fill="{INK}">{escape(_cut(name))}</text>'
            f'<rect x="{LABEL}" y="{y}" width="{long:.1f}" height="{BAR}" rx="3" fill="{colour}"/>'
            f'<text x="{LABEL + long + 6:.1f}" y="{y + 15}" fill="{SOFT}">{_number(value)}</text>'
        )
    return _svg("".join(parts), width, len(values) * (BAR + GAP), title)


def columns(values: Mapping[str, float], *, width: int = 460, height: int = 170, title: str = "") -> str:
    """A histogram: one column for each class, in order."""
    if not values:
        return ""
    most = max(values.values()) or 1
    step = width / len(values)
    parts = []
    for n, (name, value) in enumerate(values.items()):
        high = (height - 40) * value / most
        x = n * step
        middle = x + step / 2
        parts.append(
            f'<rect x="{x + 3:.1f}" y="{height - 20 - high:.1f}" width="{step - 6:.1f}" height="{high:.1f}" rx="3" '
            f'fill="{COLOURS[0]}"/>'
            f"{_centred(middle, height - 25 - high, SOFT, _number(value))}"
            f"{_centred(middle, height - 4, INK, name)}"
        )
    return _svg("".join(parts), width, height, title)


def stack(values: Mapping[str, float], *, width: int = 460, title: str = "", colours: Sequence[str] = COLOURS) -> str:
    """One bar of shares, with a legend; `colours` in the order of the values."""
    total = sum(values.values())
    if not total:
        return ""
    parts, x, row = [], 0.0, 0
    for n, (name, value) in enumerate(values.items()):
        long = width * value / total
        colour = colours[n % len(colours)]
        y = 42 + 22 * row
        parts.append(f'<rect x="{x:.1f}" y="0" width="{long:.1f}" height="24" fill="{colour}"/>')
        parts.append(f'<rect x="0" y="{y - 11}" width="12" height="12" rx="2" fill="{colour}"/>')
        share = f"{_number(value)} · {value / total:.0%}"
        parts.append(
            f'<text x="20" y="{y}" fill="{INK}">{escape(_cut(name, 40))} <tspan fill="{SOFT}">{share}</tspan></text>'
        )
        x, row = x + long, row + 1
    return _svg("".join(parts), width, 42 + 22 * row, title)


def lines(
    series: Mapping[str, Sequence[float]],
    labels: Sequence[str],
    *,
    width: int = 460,
    height: int = 170,
    title: str = "",
) -> str:
    """One line for each name over common labels (releases); a lone point is a dot."""
    values = [value for row in series.values() for value in row]
    if not values:
        return ""
    low, high = min(0.0, *values), max(*values, 0.0) or 1.0
    left, right, top, bottom = 44, 12, 28 if len(series) > 1 else 10, 24
    span = (high - low) or 1.0

    def place(n: int, value: float) -> tuple[float, float]:
        x = left + (width - left - right) * (n / (len(labels) - 1) if len(labels) > 1 else 0.5)
        return x, top + (height - top - bottom) * (1 - (value - low) / span)

    parts = [
        f'<path d="M{left} {place(0, at)[1]:.1f}H{width - right}" stroke="{LINE}"/>'
        f'<text x="{left - 6}" y="{place(0, at)[1] + 4:.1f}" text-anchor="end" fill="{SOFT}">{_number(at)}</text>'
        for at in (low, low + span / 2, high)
    ]
    every = max(1, len(labels) // 8)
    parts += [_centred(place(n, low)[0], height - 4, SOFT, label) for n, label in enumerate(labels) if n % every == 0]
    for n, (name, row) in enumerate(series.items()):
        colour = COLOURS[n % len(COLOURS)]
        points = [place(i, value) for i, value in enumerate(row)]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}">'
            f"<title>{escape(name)} {_number(value)}</title></circle>"
            for (x, y), value in zip(points, row, strict=True)
        ]
    if len(series) > 1:
        parts += [
            f'<text x="{left + 8 + 90 * n}" y="{top - 14}" fill="{COLOURS[n % len(COLOURS)]}">{escape(name)}</text>'
            for n, name in enumerate(series)
        ]
    return _svg("".join(parts), width, height, title)


def _centred(x: float, y: float, colour: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}">{escape(text)}</text>'


def _svg(body: str, width: int, height: int, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="100%" role="img" aria-label="{escape(title, quote=True)}" '
        f'font-size="12" font-family="inherit" xmlns="http://www.w3.org/2000/svg">{body}</svg>'
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def _cut(text: str, most: int = 22) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
