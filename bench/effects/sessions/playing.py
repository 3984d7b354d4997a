"""The sandbox of one session: its layers, homes and mounts, and the room in which an engine plays a phase of it."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.effects import files, git
from bench.effects.context import Context
from bench.effects.engines import Room
from bench.effects.grading.staging import Stage
from bench.effects.redact import host_paths
from bench.effects.sandbox import Bind, Finished, Limits, Spec, Workspace, runner
from bench.effects.sandbox.pump import Watch
from bench.effects.sessions.shown import Shown
from bench.errors import Cancelled, StepFailed

CALIBRATION_S = 600.0
"""Seconds for an engine without a session limit of its own: nop and gold."""


@dataclass(frozen=True, slots=True)
class Table:
    """What all phases of a session share; `plain` is the sandbox without skills and graph, as the setup sees it."""

    plain: Spec
    workspace: Workspace
    context: Context


def table(context: Context, workspace: Workspace, staged: Stage) -> Table:
    """Homes that the setup and the first phase share, the task's own mounts and dependencies."""
    homes = _homes(workspace)
    for path in homes.values():
        path.mkdir(parents=True, exist_ok=True)
    plain = Spec((), workspace, readonly=staged.mounts, home=homes["home"], tmp=homes["tmp"])
    return Table(replace(plain, dependencies=staged.dependencies), workspace, context)


def patch(table: Table, data: bytes, seconds: float) -> str | None:
    """Lay a patch over the source, uncommitted; what git says against it, or None. Raises Cancelled."""
    spec = replace(table.plain, argv=("git", *git.APPLY), stdin=data, limits=Limits(seconds=seconds))
    done = runner.run(spec, cancel=table.context.cancel)
    if done.limit == "cancelled":
        raise Cancelled("the session was cancelled")
    return None if done.ok else done.limit or " ".join(done.stderr.decode("utf-8", "replace").split())[:400]


def setup(table: Table, command: str, seconds: float) -> Finished:
    """Run a task's setup."""
    spec = replace(table.plain, argv=("sh", "-c", command), limits=Limits(seconds=seconds))
    return runner.run(spec, cancel=table.context.cancel)


class Homes:
    """The homes as the setup left them, put back before every phase. Else one phase could configure the client of the next
    (its memory, agents and settings lie in the home), or leave it notes beside the plan."""

    def __init__(self, table: Table) -> None:
        """Raises StepFailed."""
        self._homes = _homes(table.workspace)
        self._kept = table.workspace.upper.parent / "kept"
        for name, path in self._homes.items():
            _copy(path, self._kept / name)

    def restore(self) -> None:
        """Before a phase. Raises StepFailed."""
        for name, path in self._homes.items():
            files.remove_tree(path)
            _copy(self._kept / name, path)


def _homes(workspace: Workspace) -> dict[str, Path]:
    return {name: workspace.upper.parent / name for name in ("home", "tmp")}


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copytree(source, target, symlinks=True, ignore=_special)
    except OSError as error:  # shutil.Error too
        raise StepFailed(f"what the setup left in its home cannot be kept: {error.strerror or error.args[0]}") from None


def _special(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not _plain(Path(folder, name).lstat().st_mode)]


def _plain(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def room(table: Table, shown: Shown, limits: Mapping[str, Any], writable: tuple[Bind, ...], env: Mapping[str, str]) -> Room:
    """The room of one phase; `writable` and `env` are what this phase hands in by."""
    context = table.context
    base = replace(table.plain, readonly=(*table.plain.readonly, *shown.binds), env={**shown.env, **env}, writable=writable)
    return Room(
        _execute(base, context, float(limits.get("session_s", CALIBRATION_S))),
        context.cancel,
        context.log,
        hidden(context),
        context.spent,
        context.left,
        context.gateway,
    )


def _execute(base: Spec, context: Context, most: float) -> Callable[..., Finished]:
    def execute(argv: tuple[str, ...], *, stdin: bytes = b"", seconds: float | None = None, **more: Any) -> Finished:
        watch: Watch | None = more.get("watch")
        spec = replace(
            base,
            argv=tuple(argv),
            stdin=stdin,
            limits=Limits(seconds=most if seconds is None else seconds),
            env={**base.env, **more.get("env", {})},
            readonly=(*base.readonly, *more.get("readonly", ())),
            writable=(*base.writable, *more.get("writable", ())),
        )
        return runner.run(spec, cancel=context.cancel, watch=watch)

    return execute


def hidden(context: Context) -> dict[str, str]:
    """Host paths of a session and what is shown instead."""
    return host_paths(context.root, context.scratch, context.store.root)
