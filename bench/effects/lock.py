"""One writer at a time: an advisory lock on `artifacts/.lock` that also says who holds it. Readers take none."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.effects import clock, files
from bench.errors import EnvironmentRefused, LockHeld


@contextlib.contextmanager
def held(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the lock for a block. Raises LockHeld naming the holder's pid, start and command unless `wait`.

    Raises EnvironmentRefused where the system has no such locks: evidence can be read there, and none made.
    """
    try:
        import fcntl  # here, since Windows has none and plan, why, list and verify need none
    except ImportError:
        what = "this system has no file locks of the kind that keep two writers apart"
        raise EnvironmentRefused(
            what, where=path.name, remedy="read evidence here (plan, why, verify); make it on Linux"
        ) from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise files.storage_fault(error, path) or error from error
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise LockHeld(
                f"another doit writes here ({_holder(fd)})", where=str(path.name), remedy="wait for it, or use --wait"
            ) from None
        # A full disk is told by the first step that has to write; the lock holds without the holder's name, too.
        note = {"pid": os.getpid(), "since": clock.stamp(), "command": " ".join(sys.argv)[:200]}
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, json.dumps(note).encode(), 0)
        yield
        os.ftruncate(fd, 0)
    finally:
        os.close(fd)


def _holder(fd: int) -> str:
    try:
        note = json.loads(os.pread(fd, 4096, 0))
        return f"pid {note['pid']}, since {note['since']}, {note['command']!r}"
    except (ValueError, KeyError, TypeError):
        return "holder unknown"
