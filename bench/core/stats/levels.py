"""Levels and limits that every part of the statistics shares. Changing one changes what a report calls shown."""

from __future__ import annotations

from typing import Any

CONFIDENCE = 0.95
"""Level of every interval, two-sided; a test is said to show something at p ≤ 1 − CONFIDENCE."""
POWER = 0.8
"""Power at which a design is said to be able to see a difference."""
LEAST_TASKS = 6
"""Fewer tasks give no interval over tasks: with five, even five wins of five have an exact two-sided p of 0.0625."""
DIGITS = 6
"""Decimals of what is reported: far finer than any of it is known, coarser than two machines' libraries differ by."""


def rounded(value: Any) -> float:
    """A number as it is reported: Python's float, DIGITS decimals, never a negative zero."""
    return round(float(value), DIGITS) + 0.0
