"""The suites of a workspace as declared steps. It decides nothing about results: a step's verdict is `decide`'s.

Loads every suite file (each is read once) and applies the command line's variables to the suites that it names. The rows
that dodo.py iterates over are made in `rows` and `cells`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import bench.layout as layout
from bench.core import lock as locks
from bench.core import markers, matrix
from bench.core.matrix import Matrix
from bench.core.suite import Arm, Suite, Task
from bench.make import overlays, plugged, variables
from bench.make.checker import checker_for
from bench.make.corpus import load_lock, load_prices, load_suites
from bench.make.execute import build
from bench.make.progress import Progress
from bench.make.step import Step
from bench.make.workspace import Workspace


class Pipeline:
    """The declared steps of one workspace, in pipeline order."""

    def __init__(self, root: Path, argv: list[str], given: Mapping[str, str]) -> None:
        self.root = root
        self.workspace = Workspace(root)
        self.progress = Progress()
        self.given = dict(given)
        self.written = load_suites(self.workspace)
        """Suites as their files say, without the command line's variables."""
        self.named = variables.named_suites(argv, self.written)
        self._whole: dict[str, Suite] = {}
        self.suites: dict[str, Suite] = {}
        self.matrices: dict[str, Matrix] = {}
        for name, suite in self.written.items():
            mine = given if name in self.named else {}
            self._whole[name] = variables.lay(suite, mine, root)
            self.suites[name], self.matrices[name] = variables.apply(self._whole[name], mine)
        self.prices = load_prices(self.workspace)
        self._locks: dict[str, locks.Lock] = {}

    @property
    def defaults(self) -> list[str]:
        """Suites that belong to a bare `doit`."""
        return [name for name, suite in self.suites.items() if suite.default]

    def check_ready(self, names: list[str]) -> None:
        """Raise CorpusError for a suite that is about to run and cannot."""
        for name in names:
            matrix.check_ready(self.suites[name], self.matrices[name].arms)
            overlays.check(self.root, self.suites[name].arms, self.whole(name))
            plugged.check(self.root, self.matrices[name].arms)

    def whole(self, name: str) -> Suite:
        """A suite as its file says, whatever the command line leaves out; with the arms that `overlay=` chooses."""
        return self._whole[name]

    def lock(self, suite: str) -> locks.Lock:
        """What `doit relock` resolved for a suite."""
        if suite not in self._locks:
            self._locks[suite] = load_lock(self.workspace, suite)
        return self._locks[suite]

    @cached_property
    def markers(self) -> list[str]:
        """What no template or graph may carry; the same whatever the command line selects."""
        return list(markers.markers(self.written.values()))

    def tasks(self) -> Iterator[tuple[Suite, Task]]:
        """Each selected task of each suite."""
        for name, selected in self.matrices.items():
            for task in selected.tasks:
                yield self.suites[name], task

    def named_tasks(self) -> Iterator[tuple[Suite, Task, str]]:
        """Each selected task once per name of what is made for it."""
        done = set()
        for suite, task in self.tasks():
            name = self.task_names[suite.name, task.id]
            if name not in done:
                done.add(name)
                yield suite, task, name

    @cached_property
    def task_names(self) -> dict[tuple[str, str], str]:
        """(suite, task) → the name of what is made per task; plain, unless two suites make different things of one id."""
        return _named(
            (suite.name, task.id, task.id, [task, self._pinned(suite, task), suite.limits.oracle_s, dict(suite.env_aliases)])
            for suite, task in self.tasks()
        )

    @cached_property
    def _source_names(self) -> dict[tuple[str, str], str]:
        return _named(
            (suite.name, task.id, locks.source_id(task.source), self._pinned(suite, task)[0]) for suite, task in self.tasks()
        )

    def _pinned(self, suite: Suite, task: Task) -> tuple[Any, Any]:
        """What the suite's lock says of a task's source and dependencies. Raises CorpusError when it says nothing."""
        lock = self.lock(suite.name)
        return lock.source(task.source), lock.requirements(task.dependencies)

    def source_name(self, suite: Suite, task: Task) -> str:
        """Readable name of a task's source; plain, unless two suites pin it differently."""
        return self._source_names[suite.name, task.id]

    @staticmethod
    def skill_record(suite: str, arm: Arm) -> str | None:
        """Path of the record of an arm's skills and plugin; None for an arm without."""
        return layout.record("skill", f"{suite}/{arm.name}") if arm.skills or arm.plugin else None

    def graph_name(self, suite: Suite, task: Task) -> str | None:
        """Readable name of a graph; None in a suite without."""
        source = self.source_name(suite, task)
        return None if suite.graph == "none" else source if suite.graph == "codeanalyzer" else f"{source}-{suite.graph}"

    def suite_steps(self, name: str, canaries: Mapping[str, str], promotions: Mapping[str, str]) -> list[str]:
        """Steps of a suite in the order in which they should start: `suite:` depends on them all."""
        suite, chosen = self.suites[name], self.matrices[name]
        graphs = [graph for task in chosen.tasks if (graph := self.graph_name(suite, task))]
        return [
            *(f"graph:{graph}" for graph in dict.fromkeys(graphs)),
            *(f"session:{name}/{cell.name}" for cell in chosen.cells),
            *(f"cell:{name}/{cell.name}" for cell in chosen.cells),
            *(layout.step_id(path) for path in canaries.values()),
            f"health:{name}",
            *(layout.step_id(path) for path in promotions.values()),
            f"report:{name}",
        ]

    def step(
        self,
        kind: str,
        name: str,
        params: Mapping[str, Any],
        needs: Mapping[str, str | None] | None = None,
        files: Mapping[str, str | None] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Declare a step and give it in doit's form. A need, file or gate that is None is left out."""
        needed = {role: path for role, path in (needs or {}).items() if path}
        raw = {role: path for role, path in (files or {}).items() if path}
        more["gates"] = gates = {role: path for role, path in more.get("gates", {}).items() if path}
        step = self.workspace.declare(Step(kind, name, params, needed, raw, **more))
        inputs = [*needed.values(), *raw.values()]
        return {
            "name": name,
            "actions": [(build, [self.workspace, step, self.progress])],
            "file_dep": inputs,
            # A gate orders steps; its content reaches no result, and so is no input.
            "task_dep": [layout.step_id(path) for path in (*gates.values(), *step.after)],
            # doit runs a step without inputs each time unless told that its target decides.
            "uptodate": [] if inputs else [True],
            "targets": step.targets,
            "io": {"capture": False},
            "verbosity": 0,
        }

    def doit_config(self) -> dict[str, Any]:
        """DOIT_CONFIG of the workspace."""
        return {
            "backend": "assay",
            "dep_file": str(self.workspace.layout.database),
            "check_file_uptodate": checker_for(self.workspace),
            "default_tasks": [f"suite:{name}" for name in self.defaults],
            "verbosity": 0,
        }


def uses_assets(task: Task) -> bool:
    """Whether anything is mounted beside the source."""
    return bool(task.dependencies or task.sandbox_dependencies)


def _named(items: Iterable[tuple[str, str, str, Any]]) -> dict[tuple[str, str], str]:
    """(suite, task) → name, from (suite, task, plain name, what it stands for): one name never stands for two things."""
    names: dict[tuple[str, str], str] = {}
    owners: dict[str, Any] = {}
    for suite, task, name, what in items:
        while owners.setdefault(name, what) != what:
            name = f"{name}@{suite}"
        names[suite, task] = name
    return names
