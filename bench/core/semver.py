"""Exact semantic versions (semver.org, 2.0.0): whether a text is one. No ranges, no leading `v`, no ordering."""

from __future__ import annotations

import re

_PART = r"(?:0|[1-9][0-9]*)"
_PRE = rf"(?:{_PART}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_EXACT = re.compile(rf"{_PART}\.{_PART}\.{_PART}(?:-{_PRE}(?:\.{_PRE})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?")
MAX = 128
"""Characters."""


def exact(text: str) -> bool:
    """Whether the text is one exact version."""
    return len(text) <= MAX and _EXACT.fullmatch(text) is not None
