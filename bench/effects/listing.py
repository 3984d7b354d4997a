"""Names, kinds and modes below a trusted folder, without opening a file: what a step depends on before it reads anything."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

import bench.layout as layout
from bench.errors import CorpusError

SKIPPED = frozenset({".git", "__pycache__", ".DS_Store"})
"""Never part of a source, a skill or an overlay."""


@dataclass(slots=True)
class Listing:
    """Relative paths with `/`, sorted. `links` maps a symbolic link to its text; `executable`: files with the owner bit."""

    files: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    executable: list[str] = field(default_factory=list)


def place(folder: str, root: Path) -> Path:
    """A directory that a suite or the command line names (relative to corpus/, absolute, or `~/…`) as steps name it:
    relative to the workspace `root` where it lies in it."""
    home = Path(os.path.normpath(root / layout.CORPUS / Path(folder).expanduser()))
    return home.relative_to(root) if home.is_relative_to(root) else home


def below(folder: Path, *, links: bool, where: str) -> Listing:
    """List a folder. Raises CorpusError naming the path: special files, links unless `links`, an absent folder."""
    found = Listing()
    pending = [""]
    if not folder.is_dir():
        raise CorpusError("is not a directory", where=where, remedy="name an existing directory")
    while pending:
        inner = pending.pop()
        try:
            with os.scandir(folder / inner) as items:
                listed = [item for item in items if item.name not in SKIPPED]
        except PermissionError:
            raise CorpusError("may not be listed", where=f"{where}/{inner}", remedy="mend its mode") from None
        for item in listed:
            path = f"{inner}/{item.name}" if inner else item.name
            mode = item.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                pending.append(path)
            elif stat.S_ISREG(mode):
                found.files.append(path)
                if mode & 0o100:
                    found.executable.append(path)
            elif stat.S_ISLNK(mode) and links:
                found.links[path] = os.readlink(item.path)
            else:
                raise CorpusError("links and special files are not allowed here", where=f"{where}/{path}")
    found.files.sort()
    found.executable.sort()
    found.links = dict(sorted(found.links.items()))
    return found
