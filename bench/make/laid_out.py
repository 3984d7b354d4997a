"""Files of a record, laid out where people read them: those of a report, and a promotion's beside them.

Nothing is ever taken from there: what counts is the record and the store.
"""

from __future__ import annotations

import json
from pathlib import Path

from bench.core import digest
from bench.core.records import Record
from bench.effects import files
from bench.make.step import Step
from bench.make.workspace import Workspace

DECISIONS = "promotion"
"""How the names of decisions in a report's folder begin."""


def lay_out(workspace: Workspace, step: Step, record: Record) -> None:
    """Write what differs, and take away what a report no longer has, decisions of no step of the workspace too."""
    root, laid = workspace.layout.root, step.laid(record)
    if step.kind == "report":
        folder = workspace.layout.report_folder(step.name)
        for old in sorted(folder.rglob("*"), reverse=True) if folder.is_dir() else ():
            path = old.relative_to(root).as_posix()
            if old.is_file() and path not in laid and path not in workspace.makers and not _brought(old, folder):
                old.unlink()
    for path, blob in laid.items():
        data = workspace.store.get(blob.blob)
        if not _holds(root / path, blob.blob):
            files.write_atomic(root / path, data, sync=False)
    if step.kind == "report":
        workspace.note_laid_out(step.name, [folder, *sorted(item for item in folder.rglob("*") if item.is_dir())])


def faults(workspace: Workspace) -> list[str]:
    """Files of reports and promotions that are not what their record says."""
    found = []
    for step in {step.target: step for step in workspace.makers.values()}.values():
        record = workspace.read(step.target)
        for path, blob in step.laid(record).items() if record else ():
            if not _holds(workspace.layout.root / path, blob.blob):
                found.append(f"{step.id}: {Path(path).name} is not the file that was made")
    return found


def _holds(path: Path, blob: str) -> bool:
    return path.is_file() and digest.of_bytes(path.read_bytes()) == blob


def _brought(path: Path, folder: Path) -> bool:
    """Whether somebody put a promotion there: an older one, or what is none. One in our form was decided here, and is not
    any more."""
    if path.parent != folder or not path.name.startswith(DECISIONS):
        return False
    from bench.core import promotion, promotion_check  # for the few that find one

    try:
        return promotion_check.version(json.loads(path.read_bytes())) != promotion.SCHEMA
    except (OSError, ValueError, RecursionError):
        return True
