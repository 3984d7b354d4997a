"""The graded view of a task: the template, a state brought onto it from the store, the task's dependencies, nothing else.

Layers are made below a private directory and are gone afterwards, whatever happens. The session's own layer is never used:
a cell can be graded again from the store alone.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.core.records import Record
from bench.effects import changes as changes_module
from bench.effects import dependencies as deps
from bench.effects import files, template, trees
from bench.effects.changes import Changes
from bench.effects.grading.verifiers import Hidden, View
from bench.effects.sandbox import WORKSPACE, Bind, Workspace, runner
from bench.effects.store import Store


@dataclass(frozen=True, slots=True)
class Stage:
    """What all views of one task share. `template` is the expanded tree with its `.git`, at `commit`."""

    template: Path
    commit: str
    dependencies: Path | None
    mounts: tuple[Bind, ...]
    scratch: Path
    cancel: threading.Event

    def added(self, changes: Changes) -> list[str]:
        """Paths that the changes add to the template."""
        return [e.path for e in changes.entries if not os.path.lexists(self.template / e.path)]


def stage(store: Store, source: Record, assets: Record | None, *, scratch: Path, cancel: threading.Event) -> Stage:
    """Expand what the records of a task's template and assets name."""
    dependencies, mounts = None, []
    if assets is not None:
        dependencies = deps.expanded(store, assets.outputs["tree"].blob)
        for role in sorted(assets.outputs):
            if role.startswith(deps.MOUNT):
                place = f"{WORKSPACE}/{role.removeprefix(deps.MOUNT)}"
                mounts.append(Bind(trees.expand(store, assets.outputs[role].blob), place))
    lower = template.materialise(store, source)
    return Stage(lower, str(source.body["commit"]), dependencies, tuple(mounts), scratch, cancel)


@contextlib.contextmanager
def view(staged: Stage, changes: Changes, *, remove: tuple[str, ...] = ()) -> Iterator[View]:
    """The frozen view after `changes`, without the paths in `remove`. Raises StepFailed, Cancelled, SandboxRefused."""
    home = staged.scratch / "graded"
    workspace = Workspace(staged.template, home / "upper", runner.choose_backing(staged.scratch))
    home.mkdir(mode=0o700)
    try:
        runner.prepare(workspace)
        changes_module.apply(changes, workspace, cancel=staged.cancel)
        frozen = Workspace(staged.template, workspace.upper, workspace.backing, frozen=True, remove=remove)
        yield View(frozen, staged.dependencies, staged.mounts)
    finally:
        runner.discard(workspace)
        files.remove_tree(home)


def hidden(store: Store, oracle: Record, aliases: Mapping[str, str] | None) -> Hidden:
    """The oracle that a record describes, with its bytes. `aliases`: our variable → its other name."""
    body = oracle.body
    return Hidden(
        files={f["target"]: store.get(oracle.outputs[f"file/{f['target']}"].blob) for f in body["files"]},
        command=body.get("command"),
        pytest=bool(body.get("pytest")),
        report=body.get("report") or "exit",
        paths=tuple(body.get("paths") or ()),
        pythonpath=tuple(body.get("pythonpath") or ()),
        args=tuple(body.get("args") or ()),
        aliases=dict(aliases or {}),
    )
