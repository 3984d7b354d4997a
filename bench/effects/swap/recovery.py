"""The recovery file: written before the first exchange, deleted after the last; what a killed run left says how to go on.

While it is there, the tree may be half new. `undo` brings back what was there before, file by file, by the bytes alone, so
that it works in another process and after a restart; a file that someone else has edited meanwhile is left as it is.
A tree may come from anyone: a file that no apply of this user wrote is refused whole, and nothing is ever deleted but under
a name that only an apply gives.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bench.layout as layout
from bench.core import digest
from bench.effects.swap import places
from bench.effects.swap.exchange import exchange
from bench.errors import ApplyFailed

NAME = layout.RECOVERY
_WRITING = NAME + ".new"
_MODE = 0o600
"""No checkout gives it by the usual umask."""
_STAGED = re.compile(r"\.assay-[0-9a-f]{12}-[0-9]+", re.ASCII)
SCHEMA = 1
OPEN, DONE, STUCK = "open", "done", "stuck"
"""Exchanges may be half done; all are done and only backups are left; what is left needs a person."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file. `staged` lies beside it: the new bytes before the exchange, the old ones after it."""

    path: str
    staged: str
    base: str
    """Digest of the bytes before."""
    new: str
    """Digest of the bytes after."""

    def said(self) -> dict[str, str]:
        """As it stands in the file, with what a person would have to do."""
        beside = f"{Path(self.path).parent.as_posix()}/{self.staged}".removeprefix("./")
        how = f"to undo: if {beside} holds the old bytes ({self.base}), move it over {self.path}; else delete {beside}"
        return {"path": self.path, "staged": self.staged, "base": self.base, "new": self.new, "how": how}


def staged_names() -> Iterator[str]:
    """Names for what one apply lays beside the files that it replaces."""
    token = secrets.token_hex(6)
    return (f".assay-{token}-{number}" for number in itertools.count())


def write(root: int, state: str, entries: Iterable[Entry], note: Mapping[str, Any]) -> None:
    """Replace the recovery file; on the disk when this returns. `root` is the open working tree. Raises OSError."""
    remedy = "run `doit apply:…` again: it undoes this first; or follow `how` for each file, then delete this file"
    said = {"schema": SCHEMA, "state": state, "note": dict(note), "remedy": remedy, "files": [e.said() for e in entries]}
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_WRITING, dir_fd=root)
    places.write_new(root, _WRITING, json.dumps(said, indent=2, sort_keys=True).encode() + b"\n", _MODE)
    os.rename(_WRITING, NAME, src_dir_fd=root, dst_dir_fd=root)
    os.fsync(root)


def remove(root: int) -> None:
    """Delete the recovery file and what a killed writer of it left."""
    for name in (NAME, _WRITING):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=root)
    os.fsync(root)


def read(root: int) -> tuple[str, list[Entry], dict[str, Any]] | None:
    """(state, entries, note), or None when there is none. Raises ApplyFailed for one that cannot be trusted."""
    seen = places.look(root, NAME, NAME)
    if seen is None:
        return None
    try:
        said = json.loads(seen.data)
        entries = [Entry(**{key: str(item[key]) for key in ("path", "staged", "base", "new")}) for item in said["files"]]
        state, note = str(said["state"]), dict(said["note"])
        plain = said["schema"] == SCHEMA and all(_of_ours(entry) for entry in entries)
    except (ValueError, KeyError, TypeError, RecursionError):
        plain = False
    if not plain or (seen.owner, seen.mode) != (os.geteuid(), _MODE):
        remedy = "nothing was touched; see what it says and who made it, then move it away"
        raise ApplyFailed("is not a recovery file of ours", where=NAME, remedy=remedy)
    return state, entries, note


def _of_ours(entry: Entry) -> bool:
    path = Path(entry.path)
    inside = bool(path.name) and ".." not in path.parts and not path.is_absolute()
    return inside and _STAGED.fullmatch(entry.staged) is not None


def undo(root: int, entries: Iterable[Entry], held: Mapping[str, int] | None = None) -> list[str]:
    """Bring back the old bytes, in reverse order, and delete what lay beside; gives the paths that need a person.

    Whether a file was exchanged is told by bytes alone. A destination that is neither old nor new is someone's edit. `held`:
    open directories by path, by who exchanged in them; they may have been moved since.
    """
    return [entry.path for entry in reversed(list(entries)) if not _undone(root, entry, (held or {}).get(entry.path))]


def _undone(root: int, entry: Entry, held: int | None) -> bool:
    folders = [] if held is None else [held]
    with contextlib.ExitStack() as opened:
        try:
            folder = places.open_folder(root, entry.path)
        except ApplyFailed:
            if held is None:
                return False
        else:
            opened.callback(os.close, folder)
            if held is None or places.identity_of(folder) != places.identity_of(held):
                folders.append(folder)
        try:
            return all(_restored(each, Path(entry.path).name, entry) for each in folders)
        except (ApplyFailed, OSError):
            return False


def _restored(folder: int, name: str, entry: Entry) -> bool:
    here, beside = (_digest(folder, at, entry.path) for at in (name, entry.staged))
    if beside is None:
        return here != entry.new  # nothing was staged: whatever is there is not ours
    if beside != entry.new and here != entry.base:  # with the old bytes in place, it is only half staged
        if here != entry.new:
            return False  # the old bytes lie aside, and the place holds someone's edit
        exchange(folder, entry.staged, name)
        os.fsync(folder)
        if _digest(folder, entry.staged, entry.path) != entry.new:  # an edit came in between: it goes back
            exchange(folder, entry.staged, name)
            return False
    os.unlink(entry.staged, dir_fd=folder)
    os.fsync(folder)
    return True


def tidy(root: int, entries: Iterable[Entry]) -> list[str]:
    """Delete the old bytes of a finished replacement; gives the paths whose backup was edited, replaced or moved meanwhile,
    and is left. Raises OSError."""
    return [entry.path for entry in entries if not _tidied(root, entry)]


def _tidied(root: int, entry: Entry) -> bool:
    try:
        folder = places.open_folder(root, entry.path)
    except ApplyFailed:
        return False
    try:
        beside = _digest(folder, entry.staged, entry.path)
        if beside == entry.base:
            os.unlink(entry.staged, dir_fd=folder)
            os.fsync(folder)
        return beside in (entry.base, None)
    except ApplyFailed:
        return False
    finally:
        os.close(folder)


def _digest(folder: int, name: str, path: str) -> str | None:
    seen = places.look(folder, name, path)
    return None if seen is None else digest.of_bytes(seen.data)


def recover(root: Path) -> str | None:
    """Finish or undo what a killed run left; says in words what was done, None when there was nothing.

    Raises ApplyFailed naming the files that someone else has edited meanwhile; the recovery file then stays.
    """
    at = places.open_root(root)
    try:
        found = read(at)
        if found is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(_WRITING, dir_fd=at)
            return None
        state, entries, note = found
        left = tidy(at, entries) if state == DONE else undo(at, entries)
        if left:
            write(at, state if state == DONE else STUCK, [e for e in entries if e.path in left], note)
            raise ApplyFailed(
                f"an interrupted apply left files that were edited since: {', '.join(sorted(left))}",
                where=NAME,
                remedy="it says how to go on for each; then delete it",
            )
        remove(at)
        return "an interrupted apply was " + ("finished" if state == DONE else "undone")
    finally:
        os.close(at)
