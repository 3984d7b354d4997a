"""One row per cell: names and parameters of its session and its grading, shared by the runs of a task and arm."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import bench.layout as layout
from bench.core import markers, model_id, prices, session_params
from bench.core.matrix import Cell
from bench.core.suite import FREE_ENGINES, Suite, Task
from bench.effects import mounts
from bench.make.admission import Terms
from bench.make.corpus import recorded_model
from bench.make.pipeline import Pipeline, uses_assets


@dataclass(frozen=True, slots=True)
class CellRow:
    """Paths are None where the arm or task has no such input."""

    name: str
    suite: Suite
    template: str
    graph: str | None
    assets: str | None
    skill: str | None
    runtime: str
    gold: str | None
    files: dict[str, str | None]
    oracle: str | None
    expected: str | None
    session_params: dict[str, Any]
    cell_params: dict[str, Any]
    hints: dict[str, Any]
    paid: bool

    @property
    def terms(self) -> Terms | None:
        """What its suite says about starting it now; None where no agent works."""
        if self.session_params["engine"] in FREE_ENGINES:
            return None
        limits = self.suite.limits
        return Terms(self.suite.name, limits.outage, limits.budget_usd, limits.expected_usd)

    @property
    def preflight(self) -> str | None:
        """Path of the record without which no session of its engine starts in its suite."""
        engine = self.session_params["engine"]
        if self.suite.sandbox is not None:
            return None  # it would try a sandbox that is not used
        return None if engine in FREE_ENGINES else layout.record("preflight", f"{self.suite.name}/{engine}")

    @property
    def session_needs(self) -> dict[str, str | None]:
        """Input records of the session by role."""
        roles = ("template", "graph", "assets", "skill", "runtime", "gold")
        return {role: getattr(self, role) for role in roles}

    @property
    def session_terms(self) -> dict[str, Any]:
        """Raw files, hints, gates and terms of the session, as a step takes them."""
        return {
            "files": self.files,
            "hints": self.hints,
            "gates": {"preflight": self.preflight},
            "paid": self.paid,
            "retries": self.suite.retries,
            "terms": self.terms,
            "max_age_days": self.suite.limits.max_age_days,
        }

    @property
    def session(self) -> str:
        """Path of the session's record."""
        return layout.record("session", self.name)


def rows(pipeline: Pipeline) -> tuple[CellRow, ...]:
    """Every cell of every suite, in matrix order; made once for the steps that are declared of them."""
    return _rows(pipeline)


@functools.lru_cache(maxsize=1)
def _rows(pipeline: Pipeline) -> tuple[CellRow, ...]:
    return tuple(_made(pipeline))


def _made(pipeline: Pipeline) -> Iterator[CellRow]:
    for name, matrix in pipeline.matrices.items():
        bases: dict[tuple[str, str], CellRow] = {}
        for cell in matrix.cells:
            base = bases.get((cell.task.id, cell.arm.name))
            if base is None:
                bases[cell.task.id, cell.arm.name] = base = row(pipeline, pipeline.suites[name], cell)
            yield replace(base, name=f"{name}/{cell.name}", session_params=base.session_params | {"run": cell.run})


def row(pipeline: Pipeline, suite: Suite, cell: Cell) -> CellRow:
    """The row of run 0 of a cell's task and arm."""
    task, arm = cell.task, cell.arm
    own = pipeline.task_names[suite.name, task.id]
    free = arm.engine in FREE_ENGINES
    played = model_id.cassette(suite.model) if suite.model and not free else None
    cassette = f"{layout.CORPUS}/cassettes/{played}.json" if played else None
    priced = None if free else recorded_model(pipeline.workspace, cassette) if cassette else suite.model
    return CellRow(
        name=f"{suite.name}/{task.id}/{arm.name}/0",
        suite=suite,
        template=layout.record("template", pipeline.source_name(suite, task)),
        graph=layout.record("graph", pipeline.graph_name(suite, task) or "") if arm.graph else None,
        assets=layout.record("assets", own) if uses_assets(task) else None,
        skill=pipeline.skill_record(suite.name, arm),
        runtime=layout.record("runtime", arm.engine),
        gold=layout.record("gold", own) if arm.engine == "gold" and task.gold else None,
        files={"cassette": cassette, "patch": f"{layout.CORPUS}/{task.patch}" if task.patch else None}
        | _copied(pipeline, task),
        oracle=layout.record("oracle", own) if task.oracle else None,
        expected=layout.record("expected", own) if task.oracle and task.gold and not task.review else None,
        session_params=session_params.of(suite, task, arm),
        cell_params={
            "verify": task.verify,
            "verify_s": suite.limits.verify_s,
            "oracle_s": suite.limits.oracle_s,
            "prices": prices.row(pipeline.prices, priced),
            "role": arm.role,
            "aliases": dict(suite.env_aliases),
            "markers": list(markers.of_task(task, suite.env_aliases)),
        },
        hints={"cassette": played} if played else {},
        paid=not free and played is None,
    )


def _copied(pipeline: Pipeline, task: Task) -> dict[str, str | None]:
    """`sandbox_copy` by role, relative to the workspace: files of the source's checkout that its revision may lack."""
    if not task.sandbox_copy:
        return {}
    home = mounts.home(task.source, pipeline.root)
    return {f"copy/{path}": os.path.relpath(home / path, pipeline.root) for path in task.sandbox_copy}
