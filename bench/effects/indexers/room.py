"""What every indexer's run has in common: a room of files that the sandbox may read, and the ends that yield no graph."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from bench.effects import trees
from bench.effects.sandbox import Bind, Finished
from bench.effects.trees import Entry
from bench.errors import Cancelled, StepFailed

SOURCE = "/src"
OUT = "/out"
"""Mount points inside, the same for every tree: whatever an indexer derives from its paths is then the same everywhere."""


def stage(entries: Iterable[Entry], scratch: Path) -> Path:
    """A fresh directory below `scratch` with the files as `src`, and an empty `out`, open to whoever the sandbox runs as."""
    room = scratch / "indexer"
    trees.unpack(trees.pack(entries), room / "src")
    (room / "out").mkdir()
    for folder, _names, _files in os.walk(room / "src"):
        Path(folder).chmod(0o755)
    room.chmod(0o755)
    (room / "out").chmod(0o777)
    return room


def source(room: Path) -> Bind:
    """The files, to be read."""
    return Bind(room / "src", SOURCE)


def out(room: Path) -> Bind:
    """Where results go, to be written."""
    return Bind(room / "out", OUT)


def printable(path: str) -> str:
    """A path as text that JSON can hold, whatever bytes it has on disk."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def check(name: str, finished: Finished, result: Path) -> None:
    """Raise StepFailed, or Cancelled, unless the run ended well and wrote `result`."""
    if finished.limit == "cancelled":
        raise Cancelled(f"{name} was stopped")
    if finished.limit is not None:
        raise StepFailed(f"{name} hit its limit of {finished.limit}", remedy="raise limits.graph_s")
    if finished.exit != 0 or not result.is_file():
        tail = " ".join((finished.stderr or finished.stdout).decode("utf-8", "replace")[-400:].split())
        raise StepFailed(f"{name} failed with status {finished.exit}: {tail}")
