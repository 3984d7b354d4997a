"""Printing for people. Never dies on an encoding or a reader that has gone, never prints a control character of data."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
from typing import TextIO


def say(text: str, *, end: str = "\n") -> None:
    """One line on stdout."""
    _write(sys.stdout, text + end)


def say_err(text: str, *, end: str = "\n") -> None:
    """One line on stderr."""
    _write(sys.stderr, text + end)


def tolerate() -> None:
    """Let doit's own printing too show escapes for what the terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def hush(stream: TextIO) -> None:
    """Send the rest of a stream nowhere, what waits in its buffer included."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), stream.fileno())


def width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size((100, 24)).columns


def columns() -> int | None:
    """Columns of the terminal that stdout is; None where it is none."""
    return width() if sys.stdout is not None and sys.stdout.isatty() else None


def counted(number: int, noun: str) -> str:
    """`1 fault`, `2 faults`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def visible(text: str) -> str:
    """Control characters and line breaks of foreign text as escapes, so that one line stays one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text)


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return  # started without it (`>&-`)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    # A latin-1 or ASCII terminal gets escapes for what it cannot show.
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError:
        # `doit | head`, a terminal that was closed, a full disk behind `>`: the work goes on unheard.
        hush(stream)
