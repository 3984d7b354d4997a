"""Numbers: what is one, what it is exactly, and its one spelling in keys."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any


def number(value: Any) -> float | int | None:
    """A number, or None for anything else, booleans included."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def finite(value: Any) -> float | None:
    """A number that is neither NaN nor endless, nor too large to be counted with; None for anything else."""
    known = number(value)
    try:
        return float(known) if known is not None and math.isfinite(known) else None
    except OverflowError:
        return None


def exact(value: float | int) -> Fraction:
    """A number as it is written: 0.21 is twenty-one hundredths."""
    return Fraction(str(value))


def plain_number(value: float) -> int | float:
    """A whole number as int, any other as it is: 600, 600.0 and 6e2 are one value, however written, and give one key."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def plain_numbers(value: Any) -> Any:
    """The same for every number within plain JSON values."""
    if isinstance(value, float):
        return plain_number(value)
    if isinstance(value, dict):
        return {key: plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_numbers(item) for item in value]
    return value
