"""Dependency trees of a source (`node_modules`, a built package) as evidence: packed once, mounted read-only.

Bounded like every tree; a symbolic link that is absolute or leads out of the tree is refused, since it would show
something else at each place where the tree is mounted. Nothing of the tree is run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.effects import trees
from bench.effects.sources import directory
from bench.effects.trees import Entry
from bench.errors import CorpusError, SourceError
from bench.layout import Layout

KEY = "sandbox_dependencies"


def home(source: Mapping[str, Any], root: Path) -> Path:
    """The working directory of a task's source; `root` is the workspace. Raises CorpusError when there is none here."""
    if "dir" in source:
        return directory.home(source, root)
    if "git" in source:
        folder = Layout(root).corpus / Path(str(source["git"])).expanduser()
        if folder.is_dir():
            return folder
    what = "need a source that is a directory or a git repository on this machine"
    raise CorpusError(what, where=KEY, remedy="give the task a dir or a git path, or take them out")


def fingerprint(source: Mapping[str, Any], root: Path, path: str) -> str:
    """Digest of the tree at `path` below the source, for the key of the assets. Reads the whole tree."""
    return trees.tree_digest(read(home(source, root), path))


def read(root: Path, path: str) -> list[Entry]:
    """The entries of directory `path` below `root`, the source's working directory.

    Raises CorpusError when it is no real directory there, SourceError for a link that leaves it or a special file.
    """
    place, where = root / path, f"{KEY}: {path}"
    if Path(path).is_absolute() or ".." in Path(path).parts or not Path(path).parts:
        raise CorpusError("must be a path below the source", where=where)
    real = place.resolve()
    if not place.is_dir():
        raise CorpusError("is no directory", where=where, remedy="build or install it in the source first")
    if real != root.resolve() / path:
        raise CorpusError("is reached through a symbolic link", where=where, remedy="name the directory itself")
    entries = trees.read(real)
    if not entries:
        raise CorpusError("is empty", where=where, remedy="build or install it in the source first")
    for entry in entries:
        if entry.mode == "120000" and not _inside(real, entry):
            raise SourceError("a symbolic link leads out of the tree", where=f"{path}/{entry.path}")
    return entries


def _inside(root: Path, link: Entry) -> bool:
    if Path(os.fsdecode(link.data)).is_absolute():
        return False
    try:
        return (root / link.path).resolve().is_relative_to(root)
    except (OSError, RuntimeError):
        return False  # a loop of links
