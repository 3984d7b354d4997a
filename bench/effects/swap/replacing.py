"""Replace several files of a working tree, all or nothing: staged beside, exchanged one by one, undone on any fault.

Rule (spec section 5): nothing that someone else edits meanwhile is overwritten. Before each exchange the bytes and the way
to them are looked at again; after it, what came out must be the file that was read. A signal that arrives meanwhile is
held until the tree is whole: old, if it came before the last exchange. When even undoing fails, `recovery.NAME` stays.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.core import digest
from bench.effects.swap import places, recovery
from bench.effects.swap.exchange import exchange
from bench.effects.swap.places import Identity, Seen
from bench.errors import ApplyFailed, BenchError, Cancelled

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Replacement:
    """A file, relative to the working tree: the bytes that it must have now, and those that it is to have."""

    path: str
    base: bytes
    new: bytes


@dataclass(slots=True)
class _Target:
    wanted: Replacement
    folder: int
    entry: recovery.Entry
    seen: Seen
    staged: Identity | None = None

    @property
    def name(self) -> str:
        return Path(self.wanted.path).name


def replace_all(root: Path, wanted: Sequence[Replacement], note: Mapping[str, Any]) -> list[str]:
    """Replace every file; gives the paths whose old bytes were edited or moved at the last moment and are left.

    `note` goes into the recovery file. Raises ApplyFailed (drifted bases named together; rolled back; or, naming the
    recovery file, not rolled back wholly), EnvironmentRefused for a file system without exchange, Cancelled on a signal.
    """
    with signals_held(), contextlib.ExitStack() as opened:
        at = places.open_root(root)
        opened.callback(os.close, at)
        if recovery.read(at) is not None:
            raise ApplyFailed("an earlier apply was interrupted", where=recovery.NAME, remedy="recover from it first")
        targets = _bound(at, wanted, opened)
        entries = [target.entry for target in targets]
        try:
            recovery.write(at, recovery.OPEN, entries, note)
            for target in targets:
                _stage(target)
            for target in targets:
                _check_signals()
                _swap(at, target)
            _check_signals()
            for target in targets:
                _check_swapped(at, target)
            recovery.write(at, recovery.DONE, entries, note)
        except BaseException as error:
            _roll_back(at, targets, note, error)
            raise
        return _tidied(at, entries, note)


def _bound(root: int, wanted: Sequence[Replacement], opened: contextlib.ExitStack) -> list[_Target]:
    """Every target open and as expected. Raises ApplyFailed that names all that are not."""
    targets, faults = [], []
    for item, staged in zip(wanted, recovery.staged_names(), strict=False):
        try:
            folder = places.open_folder(root, item.path)
            opened.callback(os.close, folder)
            seen = places.look(folder, Path(item.path).name, item.path)
        except ApplyFailed as error:
            faults.append(str(error))
            continue
        if seen is None:
            faults.append(f"{item.path}: is missing")
        elif seen.data != item.base:
            faults.append(f"{item.path}: is not what was measured")
        else:
            entry = recovery.Entry(item.path, staged, digest.of_bytes(item.base), digest.of_bytes(item.new))
            targets.append(_Target(item, folder, entry, seen))
    if faults:
        raise ApplyFailed("; ".join(faults), where="apply", remedy="nothing was changed; mend these, or measure again")
    return targets


def _stage(target: _Target) -> None:
    target.staged = places.write_new(target.folder, target.entry.staged, target.wanted.new, target.seen.mode)
    os.fsync(target.folder)


def _rebound(root: int, target: _Target) -> None:
    """The directory that is held open is still the one that the path leads to."""
    folder = places.open_folder(root, target.wanted.path)
    try:
        if places.identity_of(folder) != places.identity_of(target.folder):
            raise ApplyFailed("its directory was moved meanwhile", where=target.wanted.path)
    finally:
        os.close(folder)


def _swap(root: int, target: _Target) -> None:
    path = target.wanted.path
    _rebound(root, target)
    now = places.look(target.folder, target.name, path)
    if now is None or (now.identity, now.data) != (target.seen.identity, target.wanted.base):
        raise ApplyFailed("was edited meanwhile", where=path)
    exchange(target.folder, target.entry.staged, target.name)
    os.fsync(target.folder)
    _check_swapped(root, target)


def _check_swapped(root: int, target: _Target) -> None:
    """Four facts (spec 5.6): new bytes here, old bytes aside, and both files are the ones that they were."""
    path = target.wanted.path
    here = places.look(target.folder, target.name, path)
    aside = places.look(target.folder, target.entry.staged, path)
    if here is None or (here.identity, here.data) != (target.staged, target.wanted.new):
        raise ApplyFailed("was edited meanwhile", where=path)
    if aside is None or (aside.identity, aside.data) != (target.seen.identity, target.wanted.base):
        raise ApplyFailed("was edited at the moment of its exchange", where=path)
    _rebound(root, target)


def _roll_back(root: int, targets: Sequence[_Target], note: Mapping[str, Any], error: BaseException) -> None:
    """Raises ApplyFailed when a person is needed, or in place of a plain OSError; else the caller raises `error` again."""
    entries = [target.entry for target in targets]
    left = recovery.undo(root, entries, {target.wanted.path: target.folder for target in targets})
    if left:
        recovery.write(root, recovery.STUCK, [entry for entry in entries if entry.path in left], note)
        what = f"{error}; and {', '.join(sorted(left))} could not be put back"
        raise ApplyFailed(what, where=recovery.NAME, remedy="it says how to go on for each file") from error
    recovery.remove(root)
    if isinstance(error, BenchError) and not isinstance(error, ApplyFailed):
        return
    if isinstance(error, (BenchError, OSError)):
        what = error.what if isinstance(error, BenchError) else str(error.strerror or error)
        where = error.where if isinstance(error, BenchError) else str(error.filename or "apply")
        raise ApplyFailed(f"{what}; rolled back, nothing is changed", where=where, remedy="run it again") from error


def _tidied(root: int, entries: Sequence[recovery.Entry], note: Mapping[str, Any]) -> list[str]:
    """The tree is new from here on; only backups are left to delete."""
    try:
        kept = recovery.tidy(root, entries)
        if kept:
            recovery.write(root, recovery.DONE, [entry for entry in entries if entry.path in kept], note)
        else:
            recovery.remove(root)
    except OSError as error:
        what = f"applied, but its backups could not be deleted ({error.strerror})"
        raise ApplyFailed(what, where=recovery.NAME, remedy="run it again, which only tidies up") from error
    return kept


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Signals that end a run wait until the end of the block; it may hold another one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def interrupted() -> bool:
    """Whether a signal is held just now."""
    return bool(signal.sigpending() & set(_SIGNALS))


def _check_signals() -> None:
    if interrupted():
        raise Cancelled("interrupted; nothing is changed", where="apply")
