"""The directory into which a session writes what it hands in, and the reading of the one file that is looked for there.

The directory is empty when the session starts, outside the workspace and every home. It is read once, when every process of
the session is dead: no link is followed, nothing but a regular file is opened, and not a byte beyond the bound is read.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from bench.errors import StepFailed

ABSENT, UNREADABLE, IRREGULAR = "absent", "unreadable", "irregular"


@dataclass(frozen=True, slots=True)
class Taken:
    """The file's bytes, or one of the problems above with the system's words."""

    data: bytes | None
    problem: str | None = None
    words: str = ""


def lay(folder: Path) -> Path:
    """Make the directory. Raises StepFailed for anything there already, a link included: it is not the session's."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise StepFailed("there is something where the session is to hand in", where=folder.name) from None
    folder.chmod(0o777)
    return folder


def take(folder: Path, name: str, limit: int) -> Taken:
    """Read one file of a directory that an agent wrote; at most `limit` bytes."""
    try:
        home = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return Taken(None, UNREADABLE, error.strerror or "unreadable")
    try:
        status = os.stat(name, dir_fd=home, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
            return Taken(None, IRREGULAR)
        return _read(home, name, limit)
    except FileNotFoundError:
        return Taken(None, ABSENT)
    except OSError as error:
        return Taken(None, UNREADABLE, error.strerror or "unreadable")
    finally:
        os.close(home)


def _read(home: int, name: str, limit: int) -> Taken:
    # Where the harness owns what the agent wrote, or is root, the mode that the agent left would not matter: it does here.
    number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=home)
    with os.fdopen(number, "rb") as stream:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            return Taken(None, IRREGULAR)
        if not status.st_mode & 0o400:
            return Taken(None, UNREADABLE, os.strerror(13))
        data = stream.read(limit + 1)
    return Taken(data) if len(data) <= limit else Taken(None, IRREGULAR)
