"""Wheels as evidence: one normal form of an unpacked distribution, the same from the wheel file and from an installation.

The form is one flat tree: purelib and platlib at the root, scripts in `bin/` with a neutral interpreter line and mode
100755, no RECORD or installer's notes, no byte code, no headers, no data but programs. It never runs code of a
distribution, never writes outside memory, and trusts nothing but the digest that a lock holds.
"""

from __future__ import annotations

import configparser
import importlib.metadata
import io
import os
import re
import sysconfig
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import installer
from installer.exceptions import InstallerError
from installer.sources import WheelFile
from installer.utils import parse_entrypoints
from packaging import tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from bench.effects.sandbox import PYTHON
from bench.effects.trees import MAX_BYTES, MAX_ENTRIES, Entry
from bench.errors import CorpusError, SourceError

_NOT_KEPT = frozenset({"RECORD", "RECORD.jws", "RECORD.p7s", "INSTALLER", "REQUESTED", "direct_url.json"})
# uv writes these two beside pip's
_NOT_KEPT |= {"uv_cache.json", "uv_build.json"}
_PYTHON_LINE = re.compile(rb"#![^\n]*python[^\n]*(\n|\Z)")
_MALFORMED = (
    AssertionError,  # installer: an entry point without an object
    EOFError,
    InstallerError,
    KeyError,  # zipfile: a member that is not there
    NotImplementedError,  # zipfile: an unknown compression
    RuntimeError,  # zipfile: an encrypted member
    ValueError,  # installer: a path outside, a name that does not fit
    configparser.Error,
    zipfile.BadZipFile,
    zlib.error,
)


def same_project(one: str, other: str) -> bool:
    """Whether two distribution names are one project (PEP 503)."""
    return canonicalize_name(one) == canonicalize_name(other)


def check_filename(filename: str, name: str, version: str, python: str) -> None:
    """Refuse what is not a pure or manylinux wheel of that name and version for Python `python` (such as "3.11") here.

    Raises CorpusError naming the file and the remedy.
    """
    if not filename.endswith(".whl"):
        raise CorpusError(
            "is not a wheel; a source distribution would run its own code to be built",
            where=filename,
            remedy=f"pin a version of {name} that has a wheel, then run doit relock",
        )
    try:
        found, release, _build, offered = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        raise CorpusError("is not the name of a wheel", where=filename, remedy="run doit relock") from None
    if not same_project(found, name) or str(release) != _normal_version(version):
        raise CorpusError(f"is not {name} {version}", where=filename, remedy="run doit relock")
    if not any(tag in offered for tag in _accepted(python)):
        shown = ", ".join(sorted(str(tag) for tag in offered))
        raise CorpusError(
            f"is for {shown}, and only pure or manylinux wheels for Python {python} on this machine can be used",
            where=filename,
            remedy="run doit relock here, or choose another version",
        )


def _normal_version(version: str) -> str:
    # The file name holds the normalised form, the lock that of the metadata.
    try:
        return str(parse_wheel_filename(f"x-{version}-py3-none-any.whl")[1])
    except InvalidWheelFilename:
        return version


def _accepted(python: str) -> Iterator[tags.Tag]:
    major, minor = (int(part) for part in python.split(".")[:2])
    platforms = [p for p in tags.platform_tags() if p.startswith("manylinux")]
    yield from tags.cpython_tags((major, minor), platforms=platforms)
    yield from tags.compatible_tags((major, minor), f"cp{major}{minor}", [*platforms, "any"])


class _Gather:
    """A destination of `installer.install` that keeps everything in memory; the names are those of its protocol."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def write_script(self, name: str, module: str, attr: str, section: str) -> None:
        self.entries.append(_launcher(name, module, attr, section))

    def write_file(self, scheme: str, path: str | os.PathLike[str], stream: BinaryIO, is_executable: bool) -> None:
        place = _place(scheme, os.fspath(path))
        if place is not None:
            self.entries.append(Entry(place, "100755" if is_executable else "100644", stream.read()))

    def finalize_installation(self, scheme: str, record_file_path: str, records: Iterable[Any]) -> None:
        """No RECORD is kept."""


class _WithoutByteCode:
    """A wheel whose `__pycache__` members are not shown: `installer` would warn about each of them."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def get_contents(self) -> Iterator[Any]:
        for item in self._inner.get_contents():
            if "__pycache__" not in item[0][0].split("/"):
                yield item


def unpack(data: bytes, filename: str) -> list[Entry]:
    """The normal form of a wheel's bytes. Raises SourceError naming the file when they are malformed or too large."""
    gathered = _Gather()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            archive.filename = filename  # installer reads name and version from it
            members = archive.infolist()
            if len(members) > MAX_ENTRIES or sum(m.file_size for m in members) > MAX_BYTES:
                raise SourceError(f"holds more than {MAX_ENTRIES} files or {MAX_BYTES} bytes", where=filename)
            wheel = WheelFile(archive)
            wheel.validate_record()
            installer.install(_WithoutByteCode(wheel), gathered, {})
    except _MALFORMED as error:
        raise SourceError(f"is not a sound wheel ({error})", where=filename, remedy="run doit relock") from None
    return _normalise(gathered.entries, filename)


def installed(name: str, version: str) -> list[Entry] | None:
    """The normal form of a distribution of this environment, or None when there is none of that version, whole.

    Whether it is what the wheel holds, only its digest can say: an edited or editable installation has another.
    """
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    if found.version != version or found.files is None:
        return None
    try:
        launchers = [_launcher(*parts) for parts in parse_entrypoints(found.read_text("entry_points.txt") or "")]
        written = {entry.path for entry in launchers}
        entries = launchers
        for listed in found.files:
            path = Path(str(found.locate_file(listed)))
            place = _installed_place(path, Path(str(found.locate_file(""))))
            if place is None or place in written or not _kept(place):
                continue
            mode = "100755" if path.stat().st_mode & 0o100 else "100644"
            entries.append(Entry(place, mode, path.read_bytes()))
        return _normalise(entries, name)
    except (OSError, SourceError, *_MALFORMED):
        return None


def _installed_place(path: Path, site: Path) -> str | None:
    """Where an installed file stands in the normal form: the inverse of `_place`."""
    real = path.parent.resolve() / path.name  # the file itself may be a link into an installer's cache
    for root, prefix in (
        (str(site), ""),
        (sysconfig.get_path("purelib"), ""),
        (sysconfig.get_path("platlib"), ""),
        (sysconfig.get_path("scripts"), "bin/"),
    ):
        home = Path(root).resolve()
        if real.is_relative_to(home):
            return prefix + real.relative_to(home).as_posix()
    return None


def _place(scheme: str, path: str) -> str | None:
    if scheme in ("purelib", "platlib"):
        return path
    if scheme == "scripts":
        return f"bin/{path}"
    # Of the data scheme only programs are of use in a sandbox; headers are of none.
    return path if scheme == "data" and path.startswith("bin/") else None


def _launcher(name: str, module: str, attr: str, section: str) -> Entry:
    """The script of an entry point. Our own text, since a lock holds its digest and installers change theirs."""
    lines = [f"#!{PYTHON}", "import sys", f"from {module} import {attr.split('.')[0]}", "", 'if __name__ == "__main__":']
    return Entry(f"bin/{name}", "100755", "\n".join([*lines, f"    sys.exit({attr}())", ""]).encode())


def _kept(path: str) -> bool:
    parts = path.split("/")
    if parts[-1].endswith((".pyc", ".pyo")) or "__pycache__" in parts:
        return False
    return not (len(parts) == 2 and parts[0].endswith(".dist-info") and parts[1] in _NOT_KEPT)


def _normalise(entries: Iterable[Entry], where: str) -> list[Entry]:
    found: list[Entry] = []
    for entry in entries:
        if not _kept(entry.path):
            continue
        _check_path(entry.path, where)
        if entry.path.startswith("bin/"):
            entry = Entry(entry.path, "100755", _neutral(entry.data))
        found.append(entry)
    return merge([(where, found)])


def _neutral(script: bytes) -> bytes:
    line = _PYTHON_LINE.match(script)
    return script if line is None else f"#!{PYTHON}\n".encode() + script[line.end() :]


def _check_path(path: str, where: str) -> None:
    odd = "\0" in path or "\\" in path or path.startswith("/")
    if odd or any(part in ("", ".", "..") for part in path.split("/")):
        raise SourceError(f"the path {path!r} leaves the tree", where=where)


def merge(trees: Sequence[tuple[str, Iterable[Entry]]]) -> list[Entry]:
    """One tree of several named ones, sorted. Raises SourceError where two give one path different content."""
    found: dict[str, tuple[str, Entry]] = {}
    folders: dict[str, str] = {}
    for name, entries in trees:
        for entry in entries:
            first, present = found.setdefault(entry.path, (name, entry))
            if present != entry:
                raise SourceError(f"{first} and {name} both hold {entry.path}, and differ", where=name)
            parent = entry.path
            while "/" in parent:
                parent = parent.rpartition("/")[0]
                folders.setdefault(parent, name)
    for path in sorted(folders.keys() & found.keys()):
        raise SourceError(f"{path} is a file in {found[path][0]} and a directory in {folders[path]}", where=path)
    return [found[path][1] for path in sorted(found, key=os.fsencode)]
