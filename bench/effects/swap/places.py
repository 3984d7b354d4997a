"""Where a file to be replaced lies: its parent directory held open, its bytes read without following a link.

Every component of a path must be a real directory; a file must be regular, of one name and bounded. Nothing is written.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from bench.errors import ApplyFailed

MAX_BYTES = 4 << 20
"""Of one file; the bound of a whole overlay (spec 2.9)."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Identity = tuple[int, int]
"""(device, inode)."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A regular file as it was read: bytes, identity, permission bits, number of the user whose it is."""

    data: bytes
    identity: Identity
    mode: int
    owner: int


def open_root(root: Path) -> int:
    """A descriptor of the working tree's top. Raises ApplyFailed."""
    try:
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ApplyFailed(f"the working tree cannot be opened ({error.strerror})", where=".") from error


def open_folder(root: int, path: str) -> int:
    """A descriptor of the directory that holds `path`, relative to the open `root`; the caller closes it.

    Raises ApplyFailed when a component is missing, a link, or no directory.
    """
    at = os.dup(root)
    try:
        for part in Path(path).parts[:-1]:
            below = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
    except OSError as error:
        os.close(at)
        why = "a directory on its way is a symbolic link or is missing"
        raise ApplyFailed(f"{why} ({error.strerror})", where=path) from error
    return at


def identity_of(descriptor: int) -> Identity:
    """(device, inode) of an open file or directory."""
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def look(folder: int, name: str, path: str) -> Seen | None:
    """The regular file `name` in an open directory, None when there is none. Raises ApplyFailed for anything else there,
    and for a file that changes while it is read; `path` is how people know it."""
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ApplyFailed(f"cannot be opened as a regular file ({error.strerror})", where=path) from error
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise ApplyFailed("is not a regular file", where=path)
        if before.st_nlink != 1:
            raise ApplyFailed(
                "has a second name (a hard link), which an exchange would part from it",
                where=path,
                remedy="make it a file of its own",
            )
        if before.st_size > MAX_BYTES:
            raise ApplyFailed(f"holds {before.st_size} bytes, the limit is {MAX_BYTES}", where=path)
        data = b""
        while piece := os.read(descriptor, MAX_BYTES + 1 - len(data)):
            data += piece
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if len(data) != before.st_size or (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise ApplyFailed("changed while it was read", where=path, remedy="run again")
    return Seen(data, (before.st_dev, before.st_ino), stat.S_IMODE(before.st_mode), before.st_uid)


def write_new(folder: int, name: str, data: bytes, mode: int) -> Identity:
    """Create `name` with these bytes and permission bits, on the disk when this returns. Raises OSError."""
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)
        return identity_of(descriptor)
    finally:
        os.close(descriptor)
