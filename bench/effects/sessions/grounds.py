"""Where a session takes place: layers in the sandbox, or, for reviews that ask for it by name, a private copy on the host.

Both give the same things to the session step, which judges them alike. `bench.effects.hosted` says what the host lacks.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from bench.core.overrides_sandbox import UNSAFE
from bench.effects import changes, files
from bench.effects.changes import Changes
from bench.effects.context import Context
from bench.effects.engines import Room
from bench.effects.grading.staging import Stage
from bench.effects.hosted import clone, running
from bench.effects.hosted.mapped import Mapped
from bench.effects.hosted.running import Place
from bench.effects.sandbox import HOME, WORKSPACE, Bind, Finished, Workspace, runner
from bench.effects.sessions import handed_in, playing
from bench.effects.sessions.handed_in import Taken
from bench.effects.sessions.playing import CALIBRATION_S, Homes
from bench.effects.sessions.shown import Shown
from bench.effects.trees import Entry
from bench.errors import StepFailed

HANDED_IN = "handed-in"


class Ground(Protocol):
    """One session's place. `backing` stands in its record; `folder` is the host directory of what it hands in."""

    backing: str
    folder: Path

    def prepare(self) -> None:
        """Lay it out. Raises StepFailed."""
        ...

    def copy_in(self, entries: Iterable[Entry]) -> None:
        """Put files into the workspace before anything runs there. Raises StepFailed, Cancelled."""
        ...

    def patch(self, data: bytes, seconds: float) -> str | None:
        """Lay a patch over the source, uncommitted; what git says against it, or None. Raises StepFailed, Cancelled."""
        ...

    def setup(self, command: str, seconds: float) -> Finished:
        """Run a task's setup."""
        ...

    def keep_homes(self) -> None:
        """Before the first of several phases: each of them begins with the homes as they are now. Raises StepFailed."""
        ...

    def seen(self) -> Changes:
        """What differs from the template now, when no process is left. Raises StepFailed, Cancelled."""
        ...

    def room(self, shown: Shown, limits: Mapping[str, Any], hand_in: str | None, env: Mapping[str, str]) -> Room:
        """The room of one phase; `hand_in` is the sandbox's name of `folder`, made for this phase, or None."""
        ...

    def take(self, name: str, limit: int) -> Taken:
        """What was handed in under that name."""
        ...

    def discard(self) -> None:
        """Take everything away, whatever modes were left. Raises BenchError, OSError."""
        ...


def create(kind: str | None, staged: Stage, context: Context) -> Ground:
    """The ground that a session's parameter `sandbox` names; None = the sandbox. Raises SandboxRefused."""
    return Hosted(staged, context) if kind == UNSAFE else Sandboxed(staged, context)


def lay_patch(ground: Ground, patch: bytes, seconds: float) -> None:
    """Lay a task's change over the source. Raises StepFailed when it does not apply (the task is broken), Cancelled."""
    said = ground.patch(patch, seconds) if patch.strip() else "it is empty"
    if said is not None:
        raise StepFailed(f"the task's patch does not apply: {said}", remedy="mend the task's `patch:`")


class Sandboxed:
    """Layers over the template."""

    def __init__(self, staged: Stage, context: Context) -> None:
        self._layers = context.scratch / "layers"
        self._staged, self._context = staged, context
        self.backing = runner.choose_backing(context.scratch)
        self.folder = self._layers / HANDED_IN
        self._workspace = Workspace(staged.template, self._layers / "upper", self.backing)
        self._homes: Homes | None = None

    def prepare(self) -> None:
        """Layers and homes."""
        runner.prepare(self._workspace)
        self._table = playing.table(self._context, self._workspace, self._staged)

    def copy_in(self, entries: Iterable[Entry]) -> None:
        """As a change of the template."""
        changes.apply(changes.of(entries, ()), self._workspace, cancel=self._context.cancel)

    def patch(self, data: bytes, seconds: float) -> str | None:
        """By git in the sandbox."""
        return playing.patch(self._table, data, seconds)

    def setup(self, command: str, seconds: float) -> Finished:
        """In the sandbox."""
        return playing.setup(self._table, command, seconds)

    def keep_homes(self) -> None:
        """Aside, in the layers."""
        self._homes = Homes(self._table)

    def seen(self) -> Changes:
        """Through the merged view."""
        return changes.collect(self._workspace, cancel=self._context.cancel)

    def room(self, shown: Shown, limits: Mapping[str, Any], hand_in: str | None, env: Mapping[str, str]) -> Room:
        """A sandbox in the session's layers."""
        if self._homes is not None:
            self._homes.restore()
        writable = (Bind(handed_in.lay(self.folder), hand_in),) if hand_in else ()
        return playing.room(self._table, shown, limits, writable, env)

    def take(self, name: str, limit: int) -> Taken:
        """As it is."""
        return handed_in.take(self.folder, name, limit)

    def discard(self) -> None:
        """Layers and homes."""
        runner.discard(self._workspace)
        files.remove_tree(self._layers)


class Hosted:
    """A private copy on the host, below the step's scratch directory; everything else beside it, never in it."""

    def __init__(self, staged: Stage, context: Context) -> None:
        self.backing = UNSAFE
        self._home = context.scratch / "hosted"
        self.folder = self._home / HANDED_IN
        self._staged, self._context = staged, context
        self._clone = self._home / "clone"
        self._kept: Mapping[str, str] | None = None
        self._place = self._laid({}, {})

    def _laid(self, more: Mapping[str, Path], env: Mapping[str, str]) -> Place:
        home, tmp = self._home / "home", self._home / "tmp"
        shown = {WORKSPACE: self._clone, HOME: home, "/tmp": tmp, **more}
        return Place(self._clone, home, tmp, Mapped({name: str(path) for name, path in shown.items()}), env)

    def prepare(self) -> None:
        """A copy of the template."""
        if self._staged.dependencies is not None or self._staged.mounts:
            raise StepFailed("a task with dependencies needs the sandbox", remedy="leave sandbox= out")
        self._home.mkdir(mode=0o700)
        clone.lay(self._staged.template, self._clone)
        running.prepare(self._place)

    def copy_in(self, entries: Iterable[Entry]) -> None:
        """Not on the host: the template may hold links that lead out of it."""
        raise StepFailed("a task with sandbox_copy needs the sandbox", remedy="leave sandbox= out")

    def patch(self, data: bytes, seconds: float) -> str | None:
        """By git on the host: no agent has been here."""
        return clone.patch(self._clone, data, seconds, self._context.cancel)

    def setup(self, command: str, seconds: float) -> Finished:
        """On the host, while the copy can be written to."""
        return running.run(self._place, ("sh", "-c", command), seconds=seconds, cancel=self._context.cancel)

    def keep_homes(self) -> None:
        """Not on the host, where only reviews take place, which have one phase."""
        raise StepFailed("a session of several phases needs the sandbox", remedy="leave sandbox= out")

    def seen(self) -> Changes:
        """Content against content; from the first look on, the repository too."""
        if self._kept is None:
            clone.thaw(self._clone)
            self._kept = clone.repository(self._clone)
        return clone.seen(self._clone, self._staged.template, self._kept)

    def room(self, shown: Shown, limits: Mapping[str, Any], hand_in: str | None, env: Mapping[str, str]) -> Room:
        """The copy without its write bits, skills as copies, and what may be written outside of it."""
        more = {hand_in: handed_in.lay(self.folder)} if hand_in else {}
        for number, bind in enumerate(shown.binds):
            more[bind.target] = self._home / f"shown-{number}"
            shutil.copytree(bind.source, more[bind.target], symlinks=True, dirs_exist_ok=True)
        self._place = place = self._laid(more, {**shown.env, **env})
        if hand_in:  # a phase that may not change the workspace
            clone.freeze(self._clone)
        context, most = self._context, float(limits.get("session_s", CALIBRATION_S))

        def execute(argv: tuple[str, ...], *, stdin: bytes = b"", seconds: float | None = None, **more: Any) -> Finished:
            if more.get("readonly") or more.get("writable") or more.get("watch"):
                raise StepFailed("this engine needs the sandbox", remedy="use the engine loop, or leave sandbox= out")
            here = replace(place, env={**place.env, **more.get("env", {})})
            return running.run(here, argv, stdin=stdin, seconds=most if seconds is None else seconds, cancel=context.cancel)

        hide, spent, left = playing.hidden(context), context.spent, context.left
        return Room(execute, context.cancel, context.log, hide, spent, left, context.gateway)

    def take(self, name: str, limit: int) -> Taken:
        """With the sandbox's names: commands that wrote them were given the host's."""
        taken = handed_in.take(self.folder, name, limit)
        return taken if taken.data is None else replace(taken, data=self._place.mapped.bytes_to_sandbox(taken.data))

    def discard(self) -> None:
        """All of it."""
        files.remove_tree(self._home)
