"""Numbers as keys hold them: 600, 600.0 and 6e2 are one value, so that the way it was written never changes a key."""

from __future__ import annotations

from typing import Any


def plain_number(value: float) -> int | float:
    """A whole number as int, any other as it is."""
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
