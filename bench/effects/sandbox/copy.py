"""Backing `copy`: a private copy of the template, for file systems on which no overlay can be mounted.

Rule: blocks are shared with the template where the file system can (reflink). A bind mount shows its path on the host in
mountinfo, so the copy lies in a directory of a neutral name, mode 0700, directly below the system's temporary directory;
the session's `upper` only says where. Links are copied as links; devices, FIFOs and sockets are left out. It never writes
into the template.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.effects import aside
from bench.effects.removal import remove_tree
from bench.effects.sandbox import Workspace, tree
from bench.effects.sandbox.layers import Layers
from bench.errors import IntegrityError

FICLONE = 0x40049409
NO_REFLINK = {errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM}
MARK = "w-"


class Copy:
    """A private copy, and a copy of the copy for each frozen run."""

    def prepare(self, workspace: Workspace) -> None:
        """Copy the template; a fault, such as a full disk, leaves no part of the copy."""
        sweep()
        workspace.upper.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _filled() as place:
            (workspace.upper / "place").write_text(str(place))
            (workspace.upper / "size").write_text(str(clone(workspace.template, place / "data")))

    def discard(self, workspace: Workspace) -> None:
        """Delete the copy, whatever modes were left in it."""
        with contextlib.suppress(FileNotFoundError):
            remove_tree(_place(workspace))
        remove_tree(workspace.upper)

    def layers(self, workspace: Workspace) -> Layers:
        """The copy itself, or a throw-away copy of it."""
        place = _place(workspace)
        size = int((workspace.upper / "size").read_text())
        if not workspace.frozen:
            return Layers(lower=(), layer=place, baseline=size)
        with _filled() as thrown:
            return Layers(lower=(), layer=thrown, thrown=thrown, baseline=clone(place / "data", thrown / "data"))


def _place(workspace: Workspace) -> Path:
    place = Path((workspace.upper / "place").read_text())
    if place.parent != Path(tempfile.gettempdir()) or not place.name.startswith(MARK):
        raise IntegrityError("does not name a private copy of ours", where=str(workspace.upper / "place"))
    return place


@contextlib.contextmanager
def _filled() -> Iterator[Path]:
    """A new place, gone again when what is to fill it fails."""
    place = Path(tempfile.mkdtemp(prefix=f"{MARK}{aside.maker()}-"))
    try:
        yield place
    except BaseException:
        remove_tree(place)
        raise


def sweep() -> None:
    """Delete the copies of a process of this user that was killed before it could."""
    aside.sweep(Path(tempfile.gettempdir()), MARK)


def clone(source: Path, target: Path) -> int:
    """Copy a tree and return its bytes on disk, as the launcher's watcher counts them; links are never followed.

    Nobody may be writing to `source`. What is too deep for the watcher to measure, or for a path, is left out: it ended the
    session that made it, and would end every run on the copy.
    """
    pending = [(source, target, 0)]
    modes: list[tuple[Path, int]] = []
    while pending:
        here, there, depth = pending.pop()
        if depth > tree.DEPTH:
            continue
        try:
            mode = here.lstat().st_mode
            if mode & 0o700 != 0o700:
                here.chmod(0o700)  # only a session's own copy can hold such a directory, and it is dead
            items = list(os.scandir(here))
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            continue
        there.mkdir(mode=0o700)
        modes.append((there, stat.S_IMODE(mode)))
        for item in items:
            entry = item.stat(follow_symlinks=False)
            if stat.S_ISDIR(entry.st_mode):
                pending.append((Path(item.path), there / item.name, depth + 1))
            elif stat.S_ISLNK(entry.st_mode):
                (there / item.name).symlink_to(Path(item.path).readlink())
            elif stat.S_ISREG(entry.st_mode):
                _clone_file(Path(item.path), there / item.name, entry)
    size = tree.size_of(str(target), 1 << 62)
    for path, mode in reversed(modes):
        path.chmod(mode)
    return size


def _clone_file(source: Path, target: Path, status: os.stat_result) -> None:
    if status.st_mode & 0o400 == 0:
        source.chmod(0o600)
    with open(source, "rb") as reader, open(target, "xb") as writer:
        try:
            fcntl.ioctl(writer, FICLONE, reader.fileno())
        except OSError as error:
            if error.errno not in NO_REFLINK:
                raise
            _copy_data(reader.fileno(), writer.fileno(), status.st_size)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    target.chmod(stat.S_IMODE(status.st_mode))


def _copy_data(reader: int, writer: int, size: int) -> None:
    """Only what is really there: a file of holes costs nothing to make and must cost nothing to copy."""
    place = 0
    while place < size:
        try:
            place = os.lseek(reader, place, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break  # nothing but a hole up to the end
        end = os.lseek(reader, place, os.SEEK_HOLE)
        os.lseek(writer, place, os.SEEK_SET)
        while place < end:
            moved = os.sendfile(writer, reader, place, min(end - place, 1 << 30))
            if moved == 0:
                return
            place += moved
    os.truncate(writer, size)
