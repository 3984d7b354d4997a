"""The matrix of a suite: which cells there are, in one fixed order. Denominators come from here, never from records."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

from bench.core import nearest, session_params
from bench.core.names import shown
from bench.core.suite import FREE_ENGINES, SUPPORTED_PROFILES, Arm, Suite, Task
from bench.errors import CorpusError, UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cell:
    """One task × arm × run; runs count from 0."""

    task: Task
    arm: Arm
    run: int

    @property
    def name(self) -> str:
        """`<task>/<arm>/<run>`: the step's name below that of the suite."""
        return f"{self.task.id}/{self.arm.name}/{self.run}"


@dataclass(frozen=True, slots=True)
class Matrix:
    """The selected cells, task-major, then run, then arm."""

    cells: tuple[Cell, ...]
    tasks: tuple[Task, ...]
    arms: tuple[Arm, ...]
    skipped: tuple[str, ...]
    """Ids of expensive tasks left out; named on the console and in the report."""

    def of_task(self, task: str) -> tuple[Cell, ...]:
        """The cells of one task, in order."""
        return tuple(cell for cell in self.cells if cell.task.id == task)


def runs_of(arm: Arm, runs: int) -> int:
    """How often an arm runs each task: nop and gold once, since they cannot vary."""
    return 1 if arm.engine in FREE_ENGINES else runs


def select(
    suite: Suite,
    *,
    arms: Collection[str] | None = None,
    tasks: Collection[str] | None = None,
    expensive: bool = False,
    runs: int | None = None,
) -> Matrix:
    """The cells of a suite, or of the arms and tasks named. None = all of them; `runs` defaults to the suite's.

    Raises UsageError for a name that is not there, and for a selection that ends empty.
    """
    chosen_arms = _pick(suite.arms, [a.name for a in suite.arms], arms, "arm")
    named = _pick(suite.tasks, [t.id for t in suite.tasks], tasks, "task")
    with_expensive = expensive or suite.expensive
    chosen = tuple(t for t in named if with_expensive or not t.expensive)
    skipped = tuple(t.id for t in named if t.expensive and not with_expensive)
    times = suite.runs if runs is None else runs
    if times < 1:
        raise UsageError(f"runs={times} leaves nothing to run", where=f"suite {suite.name}", remedy="give at least 1")
    cells = tuple(
        Cell(task, arm, run)
        for task in chosen
        for run in range(max((runs_of(arm, times) for arm in chosen_arms), default=0))
        for arm in chosen_arms
        if run < runs_of(arm, times) and arm.runs(task.id)
    )
    if not cells:
        remedy = "add expensive=1" if skipped else "name a task and an arm that runs it"
        raise UsageError("the selection is empty", where=f"suite {suite.name}", remedy=remedy)
    begun = {cell.task.id for cell in cells}
    return Matrix(cells, tuple(t for t in chosen if t.id in begun), chosen_arms, skipped)


def check_ready(suite: Suite, arms: Collection[Arm]) -> None:
    """Raise CorpusError when a suite that is to run cannot: a profile of a later release, no model where one is needed, two
    arms that are one, whatever the file calls them: as the command line leaves them."""
    if suite.profile not in SUPPORTED_PROFILES:
        raise CorpusError(
            f"the profile {suite.profile!r} comes with a later release",
            where=f"suite {suite.name}",
            remedy=f"write profile: {SUPPORTED_PROFILES[0]}",
        )
    for arm in arms:
        if arm.takes_plugin and arm.plugin is None:
            raise CorpusError(
                f"the arm {shown(arm.name)} runs with a plugin, and neither it nor the command line says which",
                where=f"suite {suite.name}",
                remedy="give plugin_dir= and plugin_version=, or choose other arms with arms=",
            )
    needs = [arm.name for arm in arms if arm.engine not in FREE_ENGINES]
    if needs and suite.model is None:
        raise CorpusError(
            f"the arm {shown(needs[0])} needs a model and the suite names none",
            where=f"suite {suite.name}",
            remedy="write model: in the suite, or give model= on the command line",
        )
    if same := session_params.twins(suite, arms):
        raise CorpusError(
            f"the arms {shown(same[0].name)} and {shown(same[1].name)} are the same, and would be one piece of evidence",
            where=f"suite {suite.name}",
            remedy="give one of them a replica number",
        )


def _pick(items: tuple[T, ...], names: list[str], wanted: Collection[str] | None, kind: str) -> tuple[T, ...]:
    if wanted is None:
        return items
    for name in wanted:
        if name not in names:
            raise UsageError(f"there is no {kind} {shown(name)}", where=f"{kind}s=", remedy=nearest.remedy(name, names))
    return tuple(item for item, name in zip(items, names, strict=True) if name in wanted)
