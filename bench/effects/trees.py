"""Directory trees as evidence: one deterministic tar per tree, expanded once per content below the store.

An entry is (path, mode, digest): path relative with `/`, sorted by bytes; mode `100644`, `100755` or `120000` (git's);
digest of the file's bytes, or of the link's text. Empty directories are not kept, as in git.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import tarfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.core import digest
from bench.effects import aside, files
from bench.effects.store import Store
from bench.errors import IntegrityError, SourceError

MAX_ENTRIES = 250_000
MAX_BYTES = 2 << 30
STAMP = 946_684_800
"""Modification time of every unpacked file: 2000-01-01T00:00:00Z, so that trees are alike wherever they are expanded."""
_EXPANDING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or symbolic link of a tree."""

    path: str
    mode: str
    data: bytes

    @property
    def listed(self) -> list[str]:
        """`[path, mode, digest]`, as it stands in a tree's digest."""
        return [self.path, self.mode, digest.of_bytes(self.data)]


def tree_digest(entries: Iterable[Entry]) -> str:
    """Digest of a tree: of the sorted list of its entries, independent of how it is packed."""
    return digest.of("assay/tree/1", [e.listed for e in _sorted(entries)])


def read(root: Path, *, skip: Callable[[str], bool] = lambda path: False) -> list[Entry]:
    """The entries of a trusted host directory; `skip` is asked for each relative path (a directory's covers what is below).

    Raises SourceError naming the path of a device, FIFO or socket, and when the tree is too large.
    """
    found: list[Entry] = []
    total = 0
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(root / folder) as listing:
            items = list(listing)
        for item in items:
            path = f"{folder}/{item.name}" if folder else item.name
            if skip(path):
                continue
            kind = item.stat(follow_symlinks=False)
            if stat.S_ISDIR(kind.st_mode):
                pending.append(path)
                continue
            total += kind.st_size
            if len(found) >= MAX_ENTRIES or total > MAX_BYTES:
                raise SourceError(f"the tree is larger than {MAX_ENTRIES} files or {MAX_BYTES} bytes", where=root.name)
            found.append(_entry(path, item, kind))
    return _sorted(found)


def _entry(path: str, file: os.DirEntry[str], kind: os.stat_result) -> Entry:
    if stat.S_ISLNK(kind.st_mode):
        return Entry(path, "120000", os.fsencode(os.readlink(file.path)))
    if stat.S_ISREG(kind.st_mode):
        data = files.read_regular(Path(file.path), limit=MAX_BYTES)
        return Entry(path, "100755" if kind.st_mode & 0o100 else "100644", data)
    raise SourceError("a device, FIFO or socket cannot be part of a tree", where=path)


def pack(entries: Iterable[Entry]) -> bytes:
    """A tar of the entries: sorted, no clock, no owner; the same entries give the same bytes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry in _sorted(entries):
            info = tarfile.TarInfo(entry.path)
            if entry.mode == "120000":
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, os.fsdecode(entry.data), 0o777
                tar.addfile(info)
                continue
            info.size, info.mode = len(entry.data), 0o755 if entry.mode == "100755" else 0o644
            tar.addfile(info, io.BytesIO(entry.data))
    return out.getvalue()


def unpack(packed: bytes, target: Path) -> None:
    """Write a tar made by `pack` below `target`; folders 0755, files 0644 or 0755 whatever the umask, at time `STAMP`.

    Links may point anywhere: they are made last, so that nothing here is ever written through one. Raises IntegrityError
    for a path that is no relative one, or is below a file.
    """
    write(entries_of(packed), target)


def write(entries: Iterable[Entry], target: Path) -> None:
    """The same from entries."""
    _folder(target)
    made = {""}
    for entry in sorted(entries, key=lambda e: e.mode == "120000"):
        parts = entry.path.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise IntegrityError("a packed tree names a path outside itself", where=repr(entry.path))
        path = target / entry.path
        try:
            for depth in range(1, len(parts)):
                if (folder := "/".join(parts[:depth])) not in made:
                    _folder(target / folder)
                    made.add(folder)
            _write(path, entry)
        except (FileExistsError, NotADirectoryError):
            raise IntegrityError("a packed tree holds a path twice", where=repr(entry.path)) from None
        except OSError as error:
            raise files.storage_fault(error, path) or error from error


def _folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o755)


def _write(path: Path, entry: Entry) -> None:
    if entry.mode == "120000":
        path.symlink_to(os.fsdecode(entry.data))
        os.utime(path, (STAMP, STAMP), follow_symlinks=False)
        return
    with open(path, "xb") as out:
        out.write(entry.data)
        out.flush()
        os.fchmod(out.fileno(), 0o755 if entry.mode == "100755" else 0o644)
        os.utime(out.fileno(), (STAMP, STAMP))


def entries_of(packed: bytes) -> list[Entry]:
    """The entries of a tar made by `pack`. Raises IntegrityError for any other."""
    found = []
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as tar:
            for info in tar:
                source = tar.extractfile(info) if info.isreg() else None
                if source is not None:
                    found.append(Entry(info.name, "100755" if info.mode & 0o100 else "100644", source.read()))
                elif info.issym():
                    found.append(Entry(info.name, "120000", os.fsencode(info.linkname)))
                else:
                    raise IntegrityError("a packed tree holds something else than files and links", where=repr(info.name))
    except tarfile.TarError:
        raise IntegrityError("not a packed tree", remedy="doit rebuilds it") from None
    return found


Finish = Callable[[Path, list[Entry]], None]


def expand(store: Store, blob: str, finish: Finish | None = None, *, variant: str = "") -> Path:
    """The directory of a packed tree below the store, made once per content (and `variant`) and then shared read-only.

    `finish` is given it and its entries, and may add to it (a `.git`) before it becomes visible. Safe against a second maker
    and against a crash.
    """
    home = store.root / "trees"
    target = home / (blob.removeprefix(digest.PREFIX) + variant)
    if target.is_dir():
        return target
    # One at a time: the workers of a run all ask for the same few trees at once, and a second maker would only waste disk.
    with _EXPANDING:
        return target if target.is_dir() else _make(store, blob, finish, target)


def _make(store: Store, blob: str, finish: Finish | None, target: Path) -> Path:
    def fill(making: Path) -> None:
        entries = entries_of(store.get(blob))
        write(entries, making)
        if finish:
            finish(making, entries)

    return aside.make(target, fill)


def copy(source: Path, target: Path) -> None:
    """A private copy of an expanded tree, links kept as links."""
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


def _sorted(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda e: os.fsencode(e.path))
