"""Files of a record, laid out where people read them: those of a report, and a promotion's beside them.

Nothing is ever taken from there: what counts is the record and the store.
"""

from __future__ import annotations

from pathlib import Path

from bench.core import digest
from bench.core.records import Blob, Record
from bench.effects import files
from bench.make.step import Step
from bench.make.workspace import Workspace

KINDS = ("report", "promotion")


def lay_out(workspace: Workspace, step: Step, record: Record) -> None:
    """Write what differs, and take away what a report no longer has; promotions are other steps' files."""
    if step.kind == "report":
        folder = workspace.layout.report_folder(step.name)
        for old in sorted(folder.rglob("*"), reverse=True) if folder.is_dir() else ():
            name = old.relative_to(folder).as_posix()
            if old.is_file() and name not in record.outputs and not (name.startswith("promotion") and "/" not in name):
                old.unlink()
    for path, blob in _laid(workspace, step, record).items():
        data = workspace.store.get(blob.blob)
        if not path.is_file() or path.read_bytes() != data:
            files.write_atomic(path, data, sync=False)
    if step.kind == "report":
        # Its own folder holds promotions too; its three files there are looked at one by one.
        workspace.note_laid_out(step.name, sorted(item for item in folder.rglob("*") if item.is_dir()))


def faults(workspace: Workspace) -> list[str]:
    """Files of reports and promotions that are not what their record says."""
    found = []
    for step in workspace.steps.values():
        record = workspace.read(step.target) if step.kind in KINDS else None
        for path, blob in _laid(workspace, step, record).items() if record else ():
            if not path.is_file() or digest.of_bytes(path.read_bytes()) != blob.blob:
                found.append(f"{step.id}: {path.name} is not the file that was made")
    return found


def _laid(workspace: Workspace, step: Step, record: Record) -> dict[Path, Blob]:
    """Where each output of a record is laid out for reading."""
    if step.kind == "report":
        return {workspace.layout.report_folder(step.name) / name: blob for name, blob in record.outputs.items()}
    if step.kind == "promotion" and "promotion" in record.outputs:
        return {workspace.layout.root / step.targets[1]: record.outputs["promotion"]}
    return {}
