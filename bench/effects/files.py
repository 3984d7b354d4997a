"""Files, safely: written aside and renamed, read without following links, deleted whatever their modes."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

from bench.effects import removal
from bench.errors import CorpusError, StorageRefused

_FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up", errno.EROFS: "it is read-only"}
_FULL |= {errno.EFBIG: "the file size limit is reached"}
_FULL |= {errno.EACCES: "permission denied", errno.EPERM: "permission denied"}

UNFINISHED = ".new-"
"""How the name of a file starts that is being written; only a killed process leaves one."""


def storage_fault(error: OSError, path: Path | str, *, writing: bool = True) -> StorageRefused | None:
    """The named fault behind an OSError, or None when it is of another kind. `writing`: a denied permission is one too."""
    why = _FULL.get(error.errno or 0)
    if why is None or (not writing and error.errno in (errno.EACCES, errno.EPERM)):
        return None
    return StorageRefused(
        f"cannot write, {why}", where=str(path), remedy="free space or mend the mount, then run doit again"
    )


def write_atomic(path: Path, data: bytes, *, mode: int = 0o600, sync: bool = True) -> None:
    """Replace `path` by `data` as one step: temporary file beside it, fsync, rename. The old file stays on any fault.

    Raises StorageRefused when the disk is full or read-only.
    """
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED)
        with os.fdopen(fd, "wb") as out:
            out.write(data)
            out.flush()
            os.fchmod(out.fileno(), mode)
            if sync:
                os.fsync(out.fileno())
        Path(temporary).replace(path)
        temporary = ""
    except OSError as error:
        raise storage_fault(error, path) or error from error
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def append_line(path: Path, line: bytes) -> None:
    """Append one line, so that a crash or a full disk tears at most this line and never one that comes after it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(fd).st_size
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            data = (b"\n" if torn else b"") + line.rstrip(b"\n") + b"\n"
            while data:
                data = data[os.write(fd, data) :]
        finally:
            os.close(fd)
    except OSError as error:
        raise storage_fault(error, path) or error from error


_PLAINLY = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _PLAINLY |= getattr(os, _flag, 0)  # Windows, where evidence is only read, has the last alone


def read_regular(path: Path, limit: int) -> bytes:
    """Bytes of a regular file of at most `limit` bytes, never through a link, never blocking on a FIFO.

    Raises CorpusError naming the path when it is anything else, or changes while it is read.
    """
    where = str(path)
    try:
        fd = os.open(path, _PLAINLY)
    except OSError as error:
        what = "is a symbolic link" if error.errno == errno.ELOOP else (error.strerror or "cannot be opened").lower()
        raise CorpusError(what, where=where, remedy="it must be a regular file") from None
    before = os.fstat(fd)
    if not stat.S_ISREG(before.st_mode):
        os.close(fd)
        raise CorpusError("is not a regular file", where=where)
    with os.fdopen(fd, "rb") as source:
        if before.st_size > limit:
            raise CorpusError(f"holds {before.st_size} bytes, the limit is {limit}", where=where)
        data = source.read(limit + 1)
        after = os.fstat(source.fileno())
    if len(data) != before.st_size or (before.st_mtime_ns, before.st_ino) != (after.st_mtime_ns, after.st_ino):
        raise CorpusError("changed while it was read", where=where, remedy="run again")
    return data


def read_text(path: Path, limit: int, where: str = "") -> str:
    """The text of a regular file in UTF-8; `where` names it in the error. Raises CorpusError."""
    data = read_regular(path, limit)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(f"is not UTF-8 (byte {error.start})", where=where or str(path)) from None


def remove_tree(path: Path) -> None:
    """Delete a file, a link, or a tree whatever modes and depth an agent gave it; absent is fine."""
    removal.remove_tree(path)
