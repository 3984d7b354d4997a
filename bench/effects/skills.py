"""Skill and overlay directories read from the host, safely: regular files alone, bounded, never through a link."""

from __future__ import annotations

import stat
from pathlib import Path

from bench.effects import files
from bench.effects.listing import SKIPPED
from bench.errors import CorpusError

MAX_ENTRIES = 1024
"""Files and directories of a skill; an overlay has its own, lower limit (spec 2.9), given by the caller."""
MAX_BYTES = 4 << 20


def read_skill_dir(path: Path, *, entries: int = MAX_ENTRIES, limit: int = MAX_BYTES) -> dict[str, bytes]:
    """{path relative to the directory, with `/`: bytes}, sorted by path; what `listing.SKIPPED` names is left out.

    Raises CorpusError naming the path of a symbolic link (the directory itself included), a special file, and when there
    are more than `entries` files and directories or `limit` bytes.
    """
    try:
        top = path.lstat()
    except OSError:
        raise CorpusError("there is no such directory", where=str(path)) from None
    if not stat.S_ISDIR(top.st_mode):
        raise CorpusError("is not a directory", where=str(path), remedy="links are not followed")
    found: dict[str, bytes] = {}
    pending, seen, total = [""], 0, 0
    while pending:
        folder = pending.pop()
        for item in sorted(entry.name for entry in (path / folder).iterdir()):
            if item in SKIPPED:
                continue
            seen += 1
            if seen > entries:
                raise CorpusError(f"has more than {entries} directory entries", where=str(path))
            inner = f"{folder}/{item}" if folder else item
            if stat.S_ISDIR((path / inner).lstat().st_mode):
                pending.append(inner)
                continue
            found[inner] = files.read_regular(path / inner, limit)
            total += len(found[inner])
            if total > limit:
                raise CorpusError(f"holds more than {limit} bytes", where=str(path))
    return dict(sorted(found.items()))
