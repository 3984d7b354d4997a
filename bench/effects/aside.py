"""A directory that is whole or absent: made aside under a name that says who makes it, then renamed into place.

Rule: two makers of one directory do no harm, the first to be done wins; what a killed maker left half-made is deleted by the
next one. Only of a maker that is known to be dead: of this namespace of processes, and its number is free. It never follows
a link, and never replaces a directory that is there.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.effects import files


def maker() -> str:
    """This process, as it stands in the names of what it makes: its namespace of processes, and its number there."""
    return f"{_room()}-{os.getpid()}"


def _room() -> int:
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0  # no Linux: nobody is ever known to be dead


def left(folder: Path, prefix: str) -> list[Path]:
    """Directories of this user in `folder` named `<prefix><maker>-…` whose maker is dead."""
    room, found = _room(), []
    for path in folder.glob(f"{prefix}{room}-*-*") if room else ():
        number = path.name.removeprefix(f"{prefix}{room}-").partition("-")[0]
        with contextlib.suppress(FileNotFoundError):
            status = path.lstat()
            mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            if mine and number.isdigit() and not Path("/proc", number).exists():
                found.append(path)
    return found


def sweep(folder: Path, prefix: str) -> None:
    """Delete what dead makers left there."""
    for path in left(folder, prefix):
        with contextlib.suppress(FileNotFoundError):  # another one sweeps too
            files.remove_tree(path)


def make(target: Path, fill: Callable[[Path], None], *, mode: int = 0o755) -> Path:
    """`target`, made by `fill` in a directory beside it, unless it is there meanwhile; a fault leaves nothing.

    Raises StorageRefused when the directory above cannot be written, and whatever `fill` raises.
    """
    home = target.parent
    try:
        home.mkdir(parents=True, exist_ok=True)
        sweep(home, files.UNFINISHED)
        making = Path(tempfile.mkdtemp(dir=home, prefix=f"{files.UNFINISHED}{maker()}-"))
    except OSError as error:
        raise files.storage_fault(error, home) or error from error
    try:
        fill(making)
        making.chmod(mode)
        try:
            making.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    finally:
        files.remove_tree(making)
    return target
