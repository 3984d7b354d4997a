"""Canaries: one fresh session of an incumbent or comparator arm for each new candidate (spec 2.6, design section 3).

When all that an arm was measured with is reused, nothing says whether the service and this machine still work as they did.
So each candidate asks for one new session of every arm that it is compared with: it gates (health, promotion) and is in no
median, and the reused session stays as it is. An arm that was measured in this very run needs none: its canary stands for
one of those sessions and costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import bench.layout as layout
from bench.core.matrix import Cell
from bench.core.suite import FREE_ENGINES, Arm
from bench.make import cells, promotions
from bench.make.cells import CellRow
from bench.make.pipeline import Pipeline

KIND = "canary"


@dataclass(frozen=True, slots=True)
class Canary:
    """`cell` is the row of the session that it repeats; `after` are all sessions of its arm, which come first."""

    name: str
    arm: str
    cell: CellRow
    candidate: str | None
    """Path of the record of the candidate's skills."""
    after: tuple[str, ...]

    @property
    def target(self) -> str:
        """Path of its record."""
        return layout.record(KIND, self.name)


def rows(pipeline: Pipeline) -> Iterator[Canary]:
    """Every canary of every suite."""
    for suite in pipeline.suites:
        yield from of_suite(pipeline, suite)


def of_suite(pipeline: Pipeline, name: str) -> Iterator[Canary]:
    """One per candidate and arm that it is compared with, in the suite's order."""
    suite, matrix = pipeline.suites[name], pipeline.matrices[name]
    for candidate in (suite.arm(one) for one in promotions.names(pipeline, name)):
        for arm in matrix.arms:
            own = [cell for cell in matrix.cells if cell.arm.name == arm.name]
            first = next((cell for cell in own if candidate.runs(cell.task.id)), None)
            if first is not None and _compared(arm, candidate):
                yield _canary(pipeline, name, candidate, first, own)


def _compared(arm: Arm, candidate: Arm) -> bool:
    return arm.engine not in FREE_ENGINES and (arm.name == candidate.of or arm.role == "comparator")


def _canary(pipeline: Pipeline, suite: str, candidate: Arm, first: Cell, own: list[Cell]) -> Canary:
    cell = cells.row(pipeline, pipeline.suites[suite], first)
    skilled = candidate.skills or candidate.plugin
    return Canary(
        name=f"{suite}/{candidate.name}/{first.arm.name}",
        arm=first.arm.name,
        cell=cell,
        candidate=layout.record("skill", f"{suite}/{candidate.name}") if skilled else None,
        after=tuple(layout.record("session", f"{suite}/{one.name}") for one in own),
    )


def needs(pipeline: Pipeline, suite: str, candidate: str | None = None) -> dict[str, str | None]:
    """The canaries of a suite, or of one of its candidates, by role, as those take them that judge the measurement."""
    found = [(canary, canary.name.split("/")[1]) for canary in of_suite(pipeline, suite)]
    return {f"{KIND}/{one.arm}/{of}": one.target for one, of in found if candidate in (None, of)}
