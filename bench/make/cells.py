"""One row per cell: the names and parameters of its session and of its grading, shared between the runs of a task and arm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bench import layout
from bench.core.suite import Arm, Suite, Task

REPLAY = "replay/"
AGGREGATE_WIDTH = 100
"""Inputs of one aggregate at most: doit's cost grows with their square (design section 3)."""


@dataclass(frozen=True, slots=True)
class CellRow:
    """Paths are None where the arm or task has no such input."""

    name: str
    suite: Suite
    task: Task
    arm: Arm
    template: str
    graph: str | None
    assets: str | None
    skill: str | None
    runtime: str
    gold: str | None
    cassette: str | None
    oracle: str | None
    expected: str | None
    session_params: dict[str, Any]
    cell_params: dict[str, Any]
    hints: dict[str, Any]
    paid: bool

    @property
    def session(self) -> str:
        """Path of the session's record."""
        return layout.record("session", self.name)

    def run(self, number: int) -> CellRow:
        """The same task and arm in another run."""
        name = f"{self.suite.name}/{self.task.id}/{self.arm.name}/{number}"
        return replace(self, name=name, session_params=self.session_params | {"run": number})


def uses_assets(task: Task) -> bool:
    """Whether anything is mounted beside the source."""
    return bool(task.dependencies or task.sandbox_dependencies)
