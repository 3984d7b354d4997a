"""A room without a sandbox, for tests whose commands are our own: they run in a directory of the host."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from bench.effects import proc
from bench.effects.engines import Room
from bench.effects.sandbox import Finished
from bench.errors import Cancelled, StepFailed


def host_room(
    folder: Path,
    cancel: threading.Event | None = None,
    log: list[str] | None = None,
    spent: list[float] | None = None,
    left: Callable[[], float | None] = lambda: None,
) -> Room:
    """Commands run in `folder` with the sandbox's manners: limits are values, never exceptions."""
    stop = cancel or threading.Event()

    def execute(argv: tuple[str, ...], *, stdin: bytes = b"", seconds: float | None = None) -> Finished:
        try:
            done = proc.run(argv, cwd=folder, stdin=stdin, seconds=seconds or 60, cancel=stop)
        except StepFailed:
            return Finished(None, "time", b"", b"", b"", seconds or 60)
        except Cancelled:
            return Finished(None, "cancelled", b"", b"", b"", 0)
        return Finished(done.exit, None, done.stdout, done.stderr, b"", 0)

    paid = (spent if spent is not None else []).append
    return Room(execute, stop, (log if log is not None else []).append, spent=paid, left=left)
