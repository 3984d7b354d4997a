"""Texts into words."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The words of a text in order, case folded."""
    return [word.casefold() for word in _WORD.findall(text)]
