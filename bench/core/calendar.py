"""Moments in UTC that others name, and days added to them. The caller has the clock."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:?[0-9]{2})")
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def moment(text: str) -> datetime:
    """An RFC 3339 moment, with its zone. Raises ValueError for what is none."""
    if not _MOMENT.fullmatch(text):
        raise ValueError(f"not a moment: {text[:40]!r}")
    return datetime.fromisoformat(text.upper())


def later(stamp: str, days: int) -> str:
    """`2026-11-29T10:00:00Z`, so many days later. Raises ValueError for what is no stamp, and where the calendar ends."""
    if not _STAMP.fullmatch(stamp):
        raise ValueError(f"not a stamp: {stamp[:40]!r}")
    try:
        return (moment(stamp) + timedelta(days=days)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        raise ValueError(f"no such day: {days} after {stamp}") from None
