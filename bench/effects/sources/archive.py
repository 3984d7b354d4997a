"""Source distributions as entries, read in memory: an archive never gets to write, link or name anything on this machine.

Refused by name: absolute paths, `..`, devices, FIFOs, links out of the archive, a path with two contents, a second top
directory, and more bytes than a template may have. Each check comes before the read, that of a header's size too, so that a
bomb does not go off.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from bench.effects.sources import rules
from bench.effects.trees import Entry
from bench.errors import SourceError

_TORN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,  # an encrypted member of a zip; headers of a tar that lead to ever more headers
    ValueError,
)
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"]\0\0": lzma.open,
}
"""How a compressed archive begins → what reads it, piece by piece."""
HEADERS, HEADER = 1 << 20, 1 << 13
"""Bytes of headers that an archive may have, and how many more for each member; a path is half of a `HEADER`."""
_Member = tuple[str, str, bytes]
"""Path with its top directory, git mode, bytes."""


def entries(data: bytes) -> list[Entry]:
    """The files of an sdist (`.tar.*` or `.zip`), below its single top directory, sorted. Raises SourceError."""
    try:
        members = list(_zip(data) if data.startswith(b"PK\3\4") else _tar(data))
    except _TORN as error:
        raise SourceError(f"is not a readable archive ({type(error).__name__})", where="sdist") from None
    found: dict[str, Entry] = {}
    tops = set()
    for path, mode, content in members:
        top, _, inner = path.partition("/")
        tops.add(top)
        if not inner or len(tops) > 1:
            raise SourceError("is outside the archive's one top directory", where=rules.shown(path))
        entry = Entry(inner, mode, content)
        if found.setdefault(inner, entry) != entry:
            raise SourceError("occurs twice in the archive, with different contents", where=rules.shown(path))
    if not found:
        raise SourceError("the archive holds no files", where="sdist")
    return sorted(found.values(), key=lambda e: os.fsencode(e.path))


class _Metered:
    """An archive, decompressed as `tarfile` reads it, which takes any header in one piece, however large it says it is."""

    def __init__(self, data: bytes) -> None:
        opener = next((opener for magic, opener in _OPENERS.items() if data.startswith(magic)), None)
        stream = io.BytesIO(data)
        self._inner: Any = opener(stream) if opener else stream
        self.left = HEADERS
        """Bytes that may still be read."""
        self.seek, self.tell = self._inner.seek, self._inner.tell

    def read(self, size: int) -> bytes:
        if not 0 <= size <= self.left:
            raise SourceError(f"has headers of more than {HEADERS} bytes", where="sdist")
        self.left -= size
        found: bytes = self._inner.read(size)
        return found


def _next(tar: Any) -> tarfile.TarInfo | None:
    info: tarfile.TarInfo | None = tar.next()
    tar.members.clear()  # with all that their headers held
    return info


def _tar(data: bytes) -> Iterator[_Member]:
    whole: dict[str, _Member] = {}
    total = count = 0
    stream: Any = _Metered(data)
    with tarfile.open(fileobj=stream, mode="r:") as tar:
        while (info := _next(tar)) is not None:
            stream.left += HEADER
            count += 1
            total += 0 if info.isdir() else info.size
            rules.check_size(count, total)
            path = _plain(info.name)
            if info.isdir():
                continue
            if info.isreg():
                stream.left += info.size
                source = tar.extractfile(info)
                member = (path, _mode(info.mode), source.read() if source else b"")
            elif info.issym():
                member = (path, rules.LINK, os.fsencode(info.linkname))
            elif info.islnk() and (first := whole.get(_plain(info.linkname))):
                # A hard link is a file that was packed before under another name: its bytes, nothing shared.
                total += len(first[2])
                rules.check_size(count, total)
                member = (path, *first[1:])
            else:
                raise SourceError("is a device, FIFO or a link to nothing in the archive", where=rules.shown(info.name))
            whole.setdefault(path, member)
            yield member


def _zip(data: bytes) -> Iterator[_Member]:
    total = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for count, info in enumerate(archive.infolist(), 1):
            path = _plain(info.filename.removesuffix("/"))
            if info.is_dir():
                continue
            total += info.file_size
            rules.check_size(count, total)
            kind = info.external_attr >> 16
            if stat.S_IFMT(kind) not in (0, stat.S_IFREG, stat.S_IFLNK):
                raise SourceError("is a device or FIFO", where=rules.shown(info.filename))
            yield path, rules.LINK if stat.S_ISLNK(kind) else _mode(kind), archive.read(info)


def _mode(bits: int) -> str:
    return "100755" if bits & 0o100 else "100644"


def _plain(name: str) -> str:
    # Some tools write ./top/file; that leading dot says nothing.
    path = name.removeprefix("./")
    if path:
        rules.check_name(path)
    return path
