"""Files of a record, laid out where people read them: those of a report, and a promotion's beside them.

Nothing is ever taken from there: what counts is the record and the store. What only this workspace knows, that sessions were
graded again and how, is put into the two pages as they are laid out; the journal vouches for those.
"""

from __future__ import annotations

import json
from pathlib import Path

import bench.layout as layout
from bench.core import digest, regraded
from bench.core.records import Record
from bench.effects import files
from bench.effects.report.render import PAGES, Renderer
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
    told = _told(workspace, step, record)
    for path, blob in laid.items():
        data = told.get(path) or workspace.store.get(blob.blob)
        if _digest(root / path) != digest.of_bytes(data):
            files.write_atomic(root / path, data, sync=False)
    if step.kind == "report":
        workspace.note_laid_out(step.name, [folder, *sorted(item for item in folder.rglob("*") if item.is_dir())])


def faults(workspace: Workspace) -> list[str]:
    """Files of reports and promotions that are neither what their record says nor what was laid out of it."""
    found = []
    for step in {step.target: step for step in workspace.makers.values()}.values():
        record = workspace.read(step.target)
        for path, blob in step.laid(record).items() if record else ():
            name = _digest(workspace.layout.root / path)
            if name is None or (name != blob.blob and not workspace.journal.laid(name)):
                found.append(f"{step.id}: {Path(path).name} is not the file that was made")
    return found


def _digest(path: Path) -> str | None:
    return digest.of_bytes(path.read_bytes()) if path.is_file() else None


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


def _told(workspace: Workspace, step: Step, record: Record) -> dict[str, bytes]:
    """The pages of a report that say more than its record does, known to the journal from now on."""
    lines = regraded.lines(_again(workspace, step, record)) if step.kind == "report" else []
    if not lines:
        return {}
    notices = regraded.notices(lines)
    renderer, folder = Renderer(), workspace.layout.report_folder(step.name).relative_to(workspace.layout.root).as_posix()
    pages = {name: workspace.store.get(record.outputs[name].blob) for name in PAGES if name in record.outputs}
    told = {f"{folder}/{name}": renderer.regraded(name, page, notices, lines) for name, page in pages.items()}
    named = sorted(digest.of_bytes(data) for data in told.values())
    if not all(map(workspace.journal.laid, named)):
        workspace.journal.write("laid", kind=step.kind, name=step.name, files=named)
    return told


def _again(workspace: Workspace, step: Step, record: Record) -> list[tuple[str, regraded.Changes | None]]:
    """The cells of a report by name, each with what was noted of the time before."""
    aggregate = workspace.read(layout.record("aggregate", step.name))
    if aggregate is None or aggregate.content != record.inputs.get("aggregate"):
        return []
    keys = [
        (f"{row['task']}/{row['arm']}/{row['run']}", row["cell"][0]) for row in aggregate.body["rows"] if row.get("cell")
    ]
    return [(name, workspace.journal.regraded(key)) for name, key in keys]
