"""How numbers are written for people. Unknown is `n/a`, never 0; a change carries its sign; no locale is asked."""

from __future__ import annotations

NOT_KNOWN = "n/a"


def usd(value: float | None) -> str:
    """Dollars: four decimals below one, two above."""
    if value is None:
        return NOT_KNOWN
    return f"${value:.4f}" if 0 < abs(value) < 1 else f"${value:,.2f}"


def seconds(value: float | None) -> str:
    """`12.3 s`, `3 min 05 s`, `1 h 02 min`."""
    if value is None:
        return NOT_KNOWN
    if value < 60:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def count(value: float | None) -> str:
    """A count with thousands apart (U+202F); the half that a median may have is kept."""
    if value is None:
        return NOT_KNOWN
    return (f"{value:,.0f}" if value == int(value) else f"{value:,.1f}").replace(",", "\u202f")


def percent(value: float | None) -> str:
    """A change: `+12.5 %`, `−3 %`, `±0 %`."""
    return _signed(value, " %")


def points(value: float | None) -> str:
    """A change of a rate in percentage points."""
    return _signed(value, " pp")


def _signed(value: float | None, unit: str) -> str:
    if value is None:
        return NOT_KNOWN
    sign = "+" if value > 0 else "−"
    return f"{sign}{abs(value):.1f}{unit}" if value else f"±0{unit}"


def change(saved_pct: float | None) -> float | None:
    """A saving in percent as a change in percent: what is saved counts down."""
    return None if saved_pct is None else -saved_pct or 0.0


def direction(saved_pct: float | None) -> str:
    """CSS class of a saving: better, worse or even."""
    if saved_pct is None:
        return "unknown"
    return "better" if saved_pct > 0 else "worse" if saved_pct < 0 else "even"


WRITTEN = {"usd": usd, "seconds": seconds, "count": count, "percent": percent, "points": points}
"""Filters that write a number."""
TESTS = {"change": change, "direction": direction}
"""Filters that give another value."""
