"""The interpreter of every sandbox: the base Python of this process, without site-packages, at a neutral path.

Rule: a copy, made once per interpreter below the user's cache directory, in which the host's prefix `/home/me/x/3.11.7` is
overwritten by `/opt/python/////3.11.7`: the same length, and `3.11.7` is a link to `.`. So the loader finds the
interpreter's own libpython even under `env -i`, and no home directory or user name stands in any of its files. (The last
part must stay: linkers let the version string be the tail of the prefix.) Never the host's packages.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

from bench.core import digest
from bench.effects import aside, env
from bench.effects.interpreter import minor
from bench.effects.sandbox import DEPENDENCIES
from bench.errors import MissingPart

FORMAT = 4
PREFIX = "/opt/python"
SUPPORT = ("__init__.py", "support")
"""What is kept of the standard library's own tests: helpers that projects' tests import."""
LEFT_OUT = {
    "site-packages",
    "dist-packages",
    "sitecustomize.py",
    "usercustomize.py",
    "EXTERNALLY-MANAGED",
    "idlelib",
    "turtledemo",
    "tkinter",
}


@functools.cache
def neutral() -> Path:
    """The directory that is mounted at /opt/python. Raises MissingPart when the base interpreter is incomplete."""
    base, stdlib = Path(sys.base_exec_prefix), Path(sysconfig.get_path("stdlib"))
    program = _program(base)
    marks = [f"{p} {p.stat().st_mtime_ns} {p.stat().st_size}" for p in (program, stdlib / "os.py", *_libraries(base))]
    name = digest.of("assay/interpreter/1", [FORMAT, sys.version, *marks]).removeprefix(digest.PREFIX)[:32]
    home = _cache()
    target = home / f"python-{name}"
    if (target / "bin" / "python3").exists():
        return target
    return aside.make(target, functools.partial(_copy, base, stdlib, program))


@functools.cache
def host_program() -> Path:
    """The base interpreter's own program on the host, which starts faster than one in a virtual environment."""
    return _program(Path(sys.base_exec_prefix))


@functools.cache
def environment() -> dict[str, str]:
    """What the interpreter needs in its environment: the library path, where nothing in its program leads to its library."""
    copied = neutral()
    if not list((copied / "lib").glob("libpython*")):
        return {}
    program = (copied / "bin" / "python3").read_bytes()
    return {} if PREFIX.encode() in program or b"$ORIGIN" in program else {"LD_LIBRARY_PATH": f"{PREFIX}/lib"}


def _cache() -> Path:
    place = env.cache()
    if place is None:
        raise MissingPart("no directory for a copy of the interpreter", remedy="set HOME or XDG_CACHE_HOME")
    return place


def _program(base: Path) -> Path:
    for name in (f"python{minor()}", "python3", "python"):
        if (base / "bin" / name).is_file():
            return (base / "bin" / name).resolve()
    raise MissingPart("the base interpreter has no program", where=str(base / "bin"), remedy="use another Python")


def _libraries(base: Path) -> list[Path]:
    # Beside libpython, a conda or standalone build keeps its own OpenSSL and SQLite there; a system's /usr/lib is mounted.
    if str(base) == "/usr":
        return []
    return sorted(p for p in (base / "lib").glob("lib*.so*") if p.is_file())


def _copy(base: Path, stdlib: Path, program: Path, making: Path) -> None:
    lib = making / "lib" / stdlib.name
    (making / "bin").mkdir()
    shutil.copytree(stdlib, lib, symlinks=False, ignore=_ignored(stdlib), ignore_dangling_symlinks=True)
    shutil.copy2(program, making / "bin" / f"python{minor()}")
    for name in ("python3", "python"):
        (making / "bin" / name).symlink_to(f"python{minor()}")
    for library in _libraries(base):
        copied = making / "lib" / library.name
        if library.is_symlink() and "/" not in str(library.readlink()):
            copied.symlink_to(library.readlink())
        else:
            shutil.copy2(library, copied)
    for link in base.iterdir():
        if link.is_symlink() and str(link.readlink()) == ".":
            (making / link.name).symlink_to(".")  # the base is such a copy itself
    if sys.platlibdir != "lib":
        (making / sys.platlibdir).symlink_to("lib")
    # Both spellings of the directory for packages: upstream's and Debian's.
    (lib / "site-packages").symlink_to(DEPENDENCIES)
    (making / "lib" / "python3").mkdir()
    (making / "lib" / "python3" / "dist-packages").symlink_to(DEPENDENCIES)
    replacements = _replacements({str(base), str(base.resolve()), sys.base_prefix}, making)
    for folder, _names, entries in os.walk(making):
        for entry in entries:
            _neutralise(Path(folder, entry), replacements)


def _ignored(stdlib: Path) -> Callable[[str, list[str]], set[str]]:
    def ignored(folder: str, names: list[str]) -> set[str]:
        if Path(folder) == stdlib:
            return {n for n in names if n in LEFT_OUT or n.startswith("config-")}
        if Path(folder).parent == stdlib and Path(folder).name == "test":
            return {n for n in names if n not in SUPPORT}
        return {n for n in names if n.endswith((".opt-1.pyc", ".opt-2.pyc")) or n in ("tests", "idle_test")}

    return ignored


def _replacements(prefixes: set[str], making: Path) -> list[tuple[bytes, bytes]]:
    found = []
    for prefix in sorted(prefixes, key=len, reverse=True):
        head, _slash, last = prefix.rpartition("/")
        if len(head) < len(PREFIX):
            continue  # such as /usr or /opt/python3: too short to hold a home directory
        if not (making / last).is_symlink():
            (making / last).symlink_to(".")
        found.append((prefix.encode(), f"{PREFIX.ljust(len(head), '/')}/{last}".encode()))
    return found


def _neutralise(path: Path, replacements: list[tuple[bytes, bytes]]) -> None:
    """Overwrite the host's prefix in one file; modes and times stay, so that compiled modules stay valid."""
    if path.is_symlink():
        return
    data = new = path.read_bytes()
    for old, neutral in replacements:
        new = new.replace(old, neutral)
    status = path.stat()
    if new != data:
        path.chmod(0o644)
        path.write_bytes(new)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    path.chmod(0o755 if status.st_mode & 0o100 else 0o644)
