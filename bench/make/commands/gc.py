"""`doit gc --older-than DAYS`: the only thing that deletes. Roots: records, keys and revoked entries; locks have keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bench.layout as layout
from bench.core import digest, records
from bench.core.records import Record
from bench.effects import clock, console, files
from bench.errors import IntegrityError, UsageError
from bench.make import conduct
from bench.make.commands.base import StepCommand, option
from bench.make.workspace import Workspace

DAY_S = 86_400


class Gc(StepCommand):
    """Deletes revoked entries, unreferenced bytes and expanded trees that are older than the given age."""

    name = "gc"
    doc_purpose = "delete what nothing refers to and is older than --older-than days"
    doc_usage = "--older-than DAYS"
    doc_description = None
    cmd_options = (
        option("older-than", str, "", "age in days; required"),
        option("dry-run", bool, False, "only say what would be deleted", "n"),
    )

    def _execute(self, older_than: str, dry_run: bool) -> int:
        self.refuse_words()
        try:
            days = float(older_than)
        except ValueError:
            days = -1
        if not days >= 0:
            raise UsageError("gc needs an age", where="--older-than", remedy="doit gc --older-than 30")
        workspace = self.pipeline.workspace
        before = clock.now_utc().timestamp() - days * DAY_S
        with conduct.writing(workspace):
            doomed = list(_revoked(workspace, before))
            gone = set(doomed)
            kept = {b.blob for r in _roots(workspace, gone) for b in r.outputs.values()}
            doomed += [
                path for blob in workspace.store.blobs() if blob not in kept and _old(path := _blob(workspace, blob), before)
            ]
            doomed += [path for path in _children(workspace.layout.store / "trees") if _tree_unused(path, kept, before)]
            doomed += [path for path in _leavings(workspace) if _old(path, before)]
            for path in doomed if dry_run else []:
                console.say(f"would delete {console.visible(path.relative_to(workspace.layout.root).as_posix())}")
            size = sum(_size(path) for path in doomed)
            for path in doomed if not dry_run else []:
                files.remove_tree(path)
            if doomed and not dry_run:
                workspace.journal.write("collected", paths=len(doomed), bytes=size)
        verb = "would delete" if dry_run else "deleted"
        console.say(
            f"{verb} {console.counted(len(doomed), 'file')} and trees (revoked, unreferenced or left over), {size} bytes"
        )
        return 0


def _roots(workspace: Workspace, gone: set[Path]) -> Iterator[Record]:
    for key in list(workspace.store.keys()):
        # Where one of its bytes is gone, the others are still the remains of something that was paid for.
        if (record := workspace.store.entry(key)) is not None:
            yield record
    folders = [workspace.layout.artifacts / folder for folder in sorted(set(layout.FOLDERS.values()))]
    for folder in [*folders, workspace.layout.revoked]:
        for path in folder.rglob("*.json*"):
            if path in gone or not path.is_file():
                continue
            try:
                yield records.parse(path.read_bytes(), path.name)
            except IntegrityError:
                # A report's promotion.json and the like are no records; a damaged record names no bytes.
                continue


def _revoked(workspace: Workspace, before: float) -> Iterator[Path]:
    if workspace.layout.revoked.is_dir():
        for path in workspace.layout.revoked.rglob("*"):
            if path.is_file() and _old(path, before):
                yield path


def _leavings(workspace: Workspace) -> Iterator[Path]:
    """Damaged bytes that were set aside, and files that a killed run had begun to write."""
    yield from _children(workspace.layout.store / "damaged")
    yield from workspace.layout.artifacts.rglob(f"{files.UNFINISHED}*")


def _blob(workspace: Workspace, blob: str) -> Path:
    return workspace.store.root.joinpath("blobs", *digest.shard(blob))


def _tree_unused(path: Path, kept: set[str], before: float) -> bool:
    # Expanded trees are disposable: a used one would only be expanded again.
    return f"{digest.PREFIX}{path.name[:64]}" not in kept and _old(path, before)


def _children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _old(path: Path, before: float) -> bool:
    return path.lstat().st_mtime < before


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(p.lstat().st_size for p in path.rglob("*") if p.is_file())
    return path.lstat().st_size
