"""The sandbox of one session: its layers, homes and mounts, and the room in which an engine plays a phase of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.effects import git
from bench.effects.context import Context
from bench.effects.engines import Room
from bench.effects.grading.staging import Stage
from bench.effects.redact import host_paths
from bench.effects.sandbox import Bind, Finished, Limits, Spec, Workspace, runner
from bench.effects.sandbox.pump import Watch
from bench.effects.sessions.shown import Shown
from bench.errors import Cancelled

CALIBRATION_S = 600.0
"""Seconds for an engine without a session limit of its own: nop and gold."""


@dataclass(frozen=True, slots=True)
class Table:
    """What all phases of a session share; `plain` is the sandbox without skills and graph, as the setup sees it."""

    plain: Spec
    workspace: Workspace
    context: Context


def table(context: Context, workspace: Workspace, staged: Stage) -> Table:
    """Homes that last from setup to the last phase, the task's own mounts and dependencies."""
    homes = {name: workspace.upper.parent / name for name in ("home", "tmp")}
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
