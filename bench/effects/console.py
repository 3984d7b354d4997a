"""Printing for people. Never dies on an encoding, never prints a control character that came from data."""

from __future__ import annotations

import shutil
import sys
from typing import TextIO


def say(text: str, *, end: str = "\n") -> None:
    """One line on stdout."""
    _write(sys.stdout, text + end)


def say_err(text: str, *, end: str = "\n") -> None:
    """One line on stderr."""
    _write(sys.stderr, text + end)


def width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size((100, 24)).columns


def visible(text: str) -> str:
    """Control characters and line breaks of foreign text as escapes, so that one line stays one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text)


def _write(stream: TextIO, text: str) -> None:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    # A latin-1 or ASCII terminal gets escapes for what it cannot show.
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
