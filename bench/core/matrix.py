"""The matrix of a suite: which cells there are, in one fixed order. Denominators come from here, never from records."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bench.core import session_params
from bench.core.names import shown
from bench.core.suite import FREE_ENGINES, SUPPORTED_PROFILES, Arm, Suite, Task
from bench.errors import CorpusError, UsageError


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


def runs_of(arm: Arm, runs: int) -> int:
    """How often an arm runs each task: nop and gold once, since they cannot vary."""
    return 1 if arm.engine in FREE_ENGINES else runs


def select(suite: Suite) -> Matrix:
    """The cells of a suite, as the command line leaves it. Raises UsageError for a selection that ends empty."""
    chosen = tuple(task for task in suite.tasks if suite.expensive or not task.expensive)
    skipped = tuple(task.id for task in suite.tasks if task.expensive and not suite.expensive)
    cells = tuple(
        Cell(task, arm, run)
        for task in chosen
        for run in range(max((runs_of(arm, suite.runs) for arm in suite.arms), default=0))
        for arm in suite.arms
        if run < runs_of(arm, suite.runs) and arm.runs(task.id)
    )
    if not cells:
        remedy = "add expensive=1" if skipped else "name a task and an arm that runs it"
        raise UsageError("the selection is empty", where=f"suite {suite.name}", remedy=remedy)
    begun = {cell.task.id for cell in cells}
    return Matrix(cells, tuple(t for t in chosen if t.id in begun), suite.arms, skipped)


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
