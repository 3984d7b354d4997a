"""A private copy of a template on the host: its case laid over it, its write bits dropped, and what differs in it read back.

Git runs in it before any agent does, and never after. Links are not followed; what is no file and no link is named.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.core import digest
from bench.effects import changes, files, git, trees
from bench.effects.changes import Changes
from bench.effects.trees import Entry
from bench.errors import StepFailed

REPOSITORY = ".git"
INDEX = f"{REPOSITORY}/index"
"""Git's cache, which reading commands write again."""
MAX_WALKED = 500_000


def lay(template: Path, target: Path) -> None:
    """Copy a template, with its repository, so that its owner may write in it."""
    trees.copy(template, target)
    thaw(target)


def patch(clone: Path, data: bytes, seconds: float, cancel: threading.Event) -> str | None:
    """Lay a patch over the source, uncommitted; what git says against it, or None. Raises StepFailed (time), Cancelled."""
    done = git.run(git.APPLY, cwd=clone, stdin=data, seconds=seconds, cancel=cancel)
    return None if done.exit == 0 else done.tail()


def freeze(root: Path) -> None:
    """Drop every write bit. It keeps an honest agent from slips; one that is the owner, or root, can undo it."""
    for path, status in sorted(_walk(root), reverse=True):
        if not stat.S_ISLNK(status.st_mode):
            (root / path).chmod(stat.S_IMODE(status.st_mode) & ~0o222)
    root.chmod(stat.S_IMODE(root.lstat().st_mode) & ~0o222)


def thaw(root: Path) -> None:
    """Give the owner's bits back, whatever modes an agent left."""
    if stat.S_ISDIR(root.lstat().st_mode):
        for _entry in _walk(root, owned=True):
            pass


def repository(clone: Path) -> dict[str, str]:
    """Path → content of what lies in the repository of a clone, git's cache left out."""
    found = {}
    for path, status in _walk(clone, owned=True):
        if (path == REPOSITORY or path.startswith(f"{REPOSITORY}/")) and path != INDEX and not stat.S_ISDIR(status.st_mode):
            entry = _entry(clone, path, status)
            found[path] = "special" if entry is None else f"{entry.mode} {digest.of_bytes(entry.data)}"
    return found


def seen(clone: Path, template: Path, kept: Mapping[str, str]) -> Changes:
    """What differs from the template; differences to the repository `kept` are oddities. Write bits are given back."""
    if not stat.S_ISDIR(clone.lstat().st_mode):
        raise StepFailed("the clone was replaced by something else")
    known = {entry.path: entry for entry in trees.read(template, skip=lambda path: path == REPOSITORY)}
    now = repository(clone)
    odd = [(path, "git-replaced") for path in sorted(now.keys() | kept.keys()) if now.get(path) != kept.get(path)]
    entries, there = [], set()
    for path, status in _walk(clone, owned=True):
        if path.split("/", 1)[0] == REPOSITORY or stat.S_ISDIR(status.st_mode):
            continue
        there.add(path)
        entry = _entry(clone, path, status)
        if entry is None:
            odd.append((path, "special"))
        elif entry != known.get(path):
            entries.append(entry)
    made = changes.of(entries, known.keys() - there)
    return Changes(made.entries, made.deletions, tuple(sorted(odd)))


def _entry(root: Path, path: str, status: os.stat_result) -> Entry | None:
    if stat.S_ISLNK(status.st_mode):
        return Entry(path, "120000", os.fsencode(os.readlink(root / path)))
    if not stat.S_ISREG(status.st_mode):
        return None
    data = files.read_regular(root / path, limit=trees.MAX_BYTES)
    return Entry(path, "100755" if status.st_mode & 0o100 else "100644", data)


def _walk(root: Path, *, owned: bool = False) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below, directories before what they hold; `owned` gives each its owner's bits before it is looked at."""
    pending, count = [""], 0
    while pending:
        folder = pending.pop()
        if owned:
            (root / folder).chmod(0o700 | stat.S_IMODE((root / folder).lstat().st_mode))
        with os.scandir(root / folder) as listing:
            items = list(listing)
        for item in items:
            count += 1
            if count > MAX_WALKED:
                raise StepFailed(f"there are more than {MAX_WALKED} files in the clone")
            path = f"{folder}/{item.name}" if folder else item.name
            status = item.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                pending.append(path)
            elif owned and stat.S_ISREG(status.st_mode):
                (root / path).chmod(0o600 | stat.S_IMODE(status.st_mode))
            yield path, status
