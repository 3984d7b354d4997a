"""Days added to a UTC stamp (`2026-11-29T10:00:00Z`), by arithmetic alone: core reads no clock and imports none."""

from __future__ import annotations

import re

_STAMP = re.compile(r"(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}:\d{2}Z)")
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def later(stamp: str, days: int) -> str:
    """The same time of day, `days` ≥ 0 later. Raises ValueError for what is no stamp."""
    found = _STAMP.fullmatch(stamp)
    if not found:
        raise ValueError(f"not a stamp: {stamp!r}")
    year, month, day = (int(found[place]) for place in (1, 2, 3))
    if not 1 <= month <= 12 or not 1 <= day <= _length(year, month):
        raise ValueError(f"no such day: {stamp!r}")
    day += days
    while day > (length := _length(year, month)):
        day -= length
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return f"{year:04d}-{month:02d}-{day:02d}{found[4]}"


def _length(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _MONTHS[month - 1]
