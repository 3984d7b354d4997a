"""Dependency trees of a source (`node_modules`, a built package) as evidence: packed once, mounted read-only.

Bounded like every tree; a symbolic link that is absolute or leads out of the tree is refused, since it would show
something else at each place where the tree is mounted. Nothing of the tree is run.
"""

from __future__ import annotations

import os
from pathlib import Path

from bench.effects import trees
from bench.effects.trees import Entry
from bench.errors import CorpusError, SourceError


def read(root: Path, source: str) -> list[Entry]:
    """The entries of directory `source` (relative to `root`, the source's working directory).

    Raises CorpusError when it is no real directory inside `root`, SourceError for a link that leaves it or a special file.
    """
    place = root / source
    where = f"sandbox_dependencies: {source}"
    if Path(source).is_absolute() or ".." in Path(source).parts or not Path(source).parts:
        raise CorpusError("must be a path below the source", where=where)
    real = place.resolve()
    if not place.is_dir():
        raise CorpusError("is no directory", where=where, remedy="build or install it in the source first")
    if real != root.resolve() / source:
        raise CorpusError("is reached through a symbolic link", where=where, remedy="name the directory itself")
    entries = trees.read(real)
    if not entries:
        raise CorpusError("is empty", where=where, remedy="build or install it in the source first")
    for entry in entries:
        if entry.mode == "120000" and not _inside(real, entry):
            raise SourceError("a symbolic link leads out of the tree", where=f"{source}/{entry.path}")
    return entries


def _inside(root: Path, entry: Entry) -> bool:
    if _absolute(entry):
        return False
    try:
        return (root / entry.path).resolve().is_relative_to(root)
    except (OSError, RuntimeError):
        return False  # a loop of links


def _absolute(link: Entry) -> bool:
    return Path(os.fsdecode(link.data)).is_absolute()


def check(entries: list[Entry], where: str) -> None:
    """Refuse a packed tree that `read` could not have given. Raises SourceError."""
    for entry in entries:
        parts = entry.path.split("/")
        if entry.path.startswith("/") or any(part in ("", ".", "..") for part in parts):
            raise SourceError(f"the path {entry.path!r} leaves the tree", where=where)
        if entry.mode == "120000" and _absolute(entry):
            raise SourceError("a symbolic link is absolute", where=f"{where}/{entry.path}")
