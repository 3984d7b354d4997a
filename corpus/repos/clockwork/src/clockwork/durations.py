"""Durations as people write them: `45s`, `10m`, `2h`, `1d`, and sums of these such as `1h30m`."""

from __future__ import annotations

import re

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_PART = re.compile(r"(\d+)([smhd])")


def parse_duration(text: str) -> int:
    """Seconds of a duration. Raises ValueError for anything that is not one."""
    match = _PART.search(text)
    if match is None:
        raise ValueError(f"not a duration: {text!r}")
    number, unit = match.groups()
    return int(number) * UNITS[unit]


def format_duration(seconds: int) -> str:
    """The shortest text that `parse_duration` reads back as `seconds`."""
    if seconds < 0:
        raise ValueError("a duration is not negative")
    parts = []
    for unit in ("d", "h", "m"):
        number, seconds = divmod(seconds, UNITS[unit])
        if number:
            parts.append(f"{number}{unit}")
    if seconds or not parts:
        parts.append(f"{seconds}s")
    return "".join(parts)
