"""Canaries: one fresh session of an incumbent or comparator arm for each new candidate (spec 2.6, design section 3).

When all that an arm was measured with is reused, nothing says whether the service and this machine still work as they did.
So each candidate asks for one new session of every arm that it is compared with: it gates (health, promotion) and is in no
median, and the reused session stays as it is. An arm that was measured in this very run needs none: its canary stands for
one of those sessions and costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import bench.layout as layout
from bench.core.matrix import Cell
from bench.core.suite import COMPARATOR, FREE_ENGINES, Arm, Task
from bench.make import cells, promotions
from bench.make.cells import CellRow
from bench.make.pipeline import Pipeline

KIND = "canary"


@dataclass(frozen=True, slots=True)
class Canary:
    """`cell` is the row of the session that it repeats; `after` are all sessions of its arm, which come first."""

    name: str
    cell: CellRow
    candidate: str | None
    """Path of the record of the candidate's skills."""
    after: tuple[str, ...]


def rows(pipeline: Pipeline) -> Iterator[Canary]:
    """Every canary of every suite."""
    for name, matrix in pipeline.matrices.items():
        suite = pipeline.suites[name]
        for candidate, arm, task in _asked(pipeline, name):
            yield Canary(
                name=_name(name, candidate, arm),
                cell=cells.row(pipeline, suite, Cell(task, arm, 0)),
                candidate=pipeline.skill_record(name, candidate),
                after=tuple(
                    layout.record("session", f"{name}/{cell.name}") for cell in matrix.cells if cell.arm.name == arm.name
                ),
            )


def needs(pipeline: Pipeline, suite: str, candidates: Collection[str] | None = None) -> dict[str, str]:
    """The canaries of a suite, or of some of its candidates, by role, as those take them that judge the measurement."""
    return {
        f"{KIND}/{arm.name}/{of.name}": layout.record(KIND, _name(suite, of, arm))
        for of, arm, _ in _asked(pipeline, suite)
        if candidates is None or of.name in candidates
    }


def _asked(pipeline: Pipeline, name: str) -> Iterator[tuple[Arm, Arm, Task]]:
    """(candidate, arm that it is compared with, the first task that both run), in the suite's order."""
    suite, matrix = pipeline.suites[name], pipeline.matrices[name]
    for candidate in (suite.arm(one) for one in promotions.names(pipeline, name)):
        for arm in matrix.arms:
            task = next((task for task in matrix.tasks if arm.runs(task.id) and candidate.runs(task.id)), None)
            if task is not None and _compared(arm, candidate):
                yield candidate, arm, task


def _compared(arm: Arm, candidate: Arm) -> bool:
    return arm.engine not in FREE_ENGINES and (arm.name == candidate.of or arm.role == COMPARATOR)


def _name(suite: str, candidate: Arm, arm: Arm) -> str:
    return f"{suite}/{candidate.name}/{arm.name}"
