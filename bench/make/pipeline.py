"""What dodo.py iterates over: the suites of the corpus, laid out as the rows of each kind of step.

Loads every suite file (each is read once), applies the command line's variables to the suites that it names, and declares.
It decides nothing about results: a step's verdict is `decide`'s.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from bench import layout
from bench.core import lock as locks
from bench.core import markers
from bench.core.matrix import Cell, Matrix
from bench.core.suite import FREE_ENGINES, Arm, Suite, Task
from bench.effects import engines, indexers, interpreter, listing
from bench.effects.sandbox import runner
from bench.make import variables
from bench.make.cells import AGGREGATE_WIDTH, REPLAY, CellRow, uses_assets
from bench.make.checker import checker_for
from bench.make.corpus import load_lock, load_prices, load_suites
from bench.make.execute import build
from bench.make.progress import Progress
from bench.make.step import Step
from bench.make.workspace import Workspace


class Pipeline:
    """The declared steps of one workspace, in pipeline order."""

    def __init__(self, root: Path, argv: list[str], given: Mapping[str, str]) -> None:
        self.workspace = Workspace(root)
        self.progress = Progress()
        self.argv = argv
        self.given = dict(given)
        files = load_suites(self.workspace)
        named = variables.named_suites(argv, files)
        self.suites: dict[str, Suite] = {}
        self.matrices: dict[str, Matrix] = {}
        for name, suite in files.items():
            mine = given if name in named else {}
            self.suites[name], self.matrices[name] = variables.apply(suite, mine)
        self.prices = load_prices(self.workspace)
        self._locks: dict[str, locks.Lock] = {}

    @property
    def defaults(self) -> list[str]:
        """Suites that belong to a bare `doit`."""
        return [name for name, suite in self.suites.items() if suite.default]

    def lock(self, suite: str) -> locks.Lock:
        """What `doit relock` resolved for a suite."""
        if suite not in self._locks:
            self._locks[suite] = load_lock(self.workspace, suite)
        return self._locks[suite]

    @cached_property
    def markers(self) -> list[str]:
        """What no template or graph may carry."""
        return list(markers.markers(self.suites.values()))

    def tasks(self) -> Iterator[tuple[Suite, Task]]:
        """Each selected task of each suite."""
        for name, suite in self.suites.items():
            wanted = dict.fromkeys(cell.task.id for cell in self.matrices[name].cells)
            for task in suite.tasks:
                if task.id in wanted:
                    yield suite, task

    @cached_property
    def task_names(self) -> dict[tuple[str, str], str]:
        """(suite, task) → the name of what is made per task; plain, unless two suites use one id for different tasks."""
        names: dict[tuple[str, str], str] = {}
        owners: dict[str, Task] = {}
        for suite, task in self.tasks():
            owner = owners.setdefault(task.id, task)
            names[suite.name, task.id] = task.id if owner == task else f"{task.id}@{suite.name}"
        return names

    def sources(self) -> dict[str, tuple[dict[str, Any], dict[str, str], dict[str, Any]]]:
        """Source → (keyed params, raw files by role, where to look)."""
        found: dict[str, tuple[dict[str, Any], dict[str, str], dict[str, Any]]] = {}
        for suite, task in self.tasks():
            name = self.source_name(task)
            if name in found:
                continue
            if "dir" in task.source:
                where = Path(layout.CORPUS, task.source["dir"])
                seen = listing.below(self.workspace.layout.root / where, links=True, where=where.as_posix())
                shape = {"kind": "dir", "links": seen.links, "executable": seen.executable}
                files = {path: (where / path).as_posix() for path in seen.files}
                found[name] = ({"source": shape, "markers": self.markers}, files, {"source": dict(task.source)})
                continue
            pinned = self.lock(suite.name).source(task.source)
            kind = "git" if "git" in task.source else "sdist"
            content = {name: pinned[name] for name in ("commit", "sha256") if name in pinned}
            found[name] = ({"source": {"kind": kind, **content}, "markers": self.markers}, {}, {"source": pinned})
        return found

    def source_name(self, task: Task) -> str:
        """Readable name of a task's source."""
        return locks.source_id(task.source)

    def graphs(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Graph → (source, params), for suites that have one."""
        found: dict[str, tuple[str, dict[str, Any]]] = {}
        for suite, task in self.tasks():
            if suite.graph != "none":
                params = {"indexer": suite.graph, "seconds": suite.limits.graph_s, "markers": self.markers}
                params["identity"] = indexers.create(suite.graph).identity()
                found[self.graph_name(suite, task)] = (self.source_name(task), params)
        return found

    def graph_name(self, suite: Suite, task: Task) -> str:
        """Readable name of a graph."""
        source = self.source_name(task)
        return source if suite.graph == "codeanalyzer" else f"{source}-{suite.graph}"

    def skill_arms(self) -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
        """(name, params, raw files by role) of each arm that has skills."""
        for suite in self.suites.values():
            for arm in suite.arms:
                if not arm.skills:
                    continue
                files: dict[str, str] = {}
                folders = {Path(folder).name: folder for folder in arm.skills}
                if arm.overlay:
                    folders["overlay"] = arm.overlay
                for role, folder in folders.items():
                    where = Path(layout.CORPUS, folder)
                    seen = listing.below(self.workspace.layout.root / where, links=False, where=where.as_posix())
                    files |= {f"{role}/{path}": (where / path).as_posix() for path in seen.files}
                params = {"skills": [Path(s).name for s in arm.skills], "overlay": arm.overlay is not None}
                yield f"{suite.name}/{arm.name}", params, files

    def runtimes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(engine, params) of every engine that any arm uses."""
        for engine in sorted({arm.engine for suite in self.suites.values() for arm in suite.arms}):
            yield engine, {"engine": engine, "protocol": engines.create(engine).protocol, "sandbox": runner.PROTOCOL}

    def assets(self) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        """(name, keyed params, where to look) for each task that has dependencies."""
        for suite, task in self.tasks():
            if uses_assets(task):
                entries = [dict(entry) for entry in self.lock(suite.name).requirements(task.dependencies)]
                own = task.source["sdist"].partition("==")[0] if "sdist" in task.source else None
                params = {"lock": entries, "python": interpreter.minor(), "exclude_dist": own}
                yield self.task_names[suite.name, task.id], params, {"source": dict(task.source)}

    def oracles(self) -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
        """(name, params, raw files by target) for each task that has an oracle."""
        for suite, task in self.tasks():
            oracle = task.oracle
            if oracle is not None:
                said = dataclasses.asdict(oracle)
                del said["files"]
                listed = [
                    {"target": f.target} | ({"sdist": f.sdist, "sha256": f.sha256, "path": f.source} if f.sdist else {})
                    for f in oracle.files
                ]
                files = {f.target: f"{layout.ORACLES}/{f.source}" for f in oracle.files if f.sdist is None}
                yield self.task_names[suite.name, task.id], {"oracle": said, "files": listed}, files

    def golds(self) -> Iterator[tuple[str, str, dict[str, Any], dict[str, str | None]]]:
        """(name, template's path, params, raw files) for each task that has a reference solution."""
        for suite, task in self.tasks():
            gold = task.gold
            if gold is not None:
                pinned = {"exclude": list(gold.exclude), "sdist": gold.sdist, "sha256": gold.sha256}
                template = layout.record("template", self.source_name(task))
                files = {"patch": f"{layout.ORACLES}/{gold.patch}" if gold.patch else None}
                yield self.task_names[suite.name, task.id], template, pinned if gold.sdist else {}, files

    def expected(self) -> Iterator[tuple[str, dict[str, Any], dict[str, str | None]]]:
        """(name, params, needs) where expected test ids are learned from gold."""
        for suite, task in self.tasks():
            if task.oracle is not None and task.gold is not None:
                name = self.task_names[suite.name, task.id]
                needs = {
                    "template": layout.record("template", self.source_name(task)),
                    "gold": layout.record("gold", name),
                    "oracle": layout.record("oracle", name),
                    "assets": layout.record("assets", name) if uses_assets(task) else None,
                }
                params = {"oracle_s": suite.limits.oracle_s, "aliases": dict(suite.env_aliases)}
                yield name, params, needs

    def cells(self) -> Iterator[CellRow]:
        """Every cell of every suite, in matrix order."""
        for suite, matrix in ((self.suites[n], m) for n, m in self.matrices.items()):
            rows: dict[tuple[str, str], CellRow] = {}
            for cell in matrix.cells:
                base = rows.get((cell.task.id, cell.arm.name))
                if base is None:
                    rows[cell.task.id, cell.arm.name] = base = self._row(suite, cell)
                yield base.run(cell.run)

    def _row(self, suite: Suite, cell: Cell) -> CellRow:
        task, arm = cell.task, cell.arm
        own = self.task_names[suite.name, task.id]
        replay = (suite.model or "").startswith(REPLAY) and arm.engine not in FREE_ENGINES
        cassette = (suite.model or "").removeprefix(REPLAY)
        return CellRow(
            name="",
            suite=suite,
            task=task,
            arm=arm,
            template=layout.record("template", self.source_name(task)),
            graph=layout.record("graph", self.graph_name(suite, task)) if arm.graph and suite.graph != "none" else None,
            assets=layout.record("assets", own) if uses_assets(task) else None,
            skill=layout.record("skill", f"{suite.name}/{arm.name}") if arm.skills else None,
            runtime=layout.record("runtime", arm.engine),
            gold=layout.record("gold", own) if arm.engine == "gold" and task.gold else None,
            cassette=f"{layout.CORPUS}/cassettes/{cassette}.json" if replay else None,
            oracle=layout.record("oracle", own) if task.oracle else None,
            expected=layout.record("expected", own) if task.oracle and task.gold else None,
            session_params=session_params(suite, task, arm),
            cell_params={
                "verify": task.verify,
                "verify_s": suite.limits.verify_s,
                "oracle_s": suite.limits.oracle_s,
                "prices": self.prices,
                "role": arm.role,
                "aliases": dict(suite.env_aliases),
                "engine": arm.engine,
            },
            hints={"cassette": cassette} if replay else {},
            paid=arm.engine not in FREE_ENGINES and not replay,
        )

    def aggregates(self) -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
        """(name, params, needs) of each aggregate: tasks first, then, where a suite is wide, groups, then the suite."""
        for name, matrix in self.matrices.items():
            suite = self.suites[name]
            parts: dict[str, str] = {}
            by_task: dict[str, list[Any]] = {}
            for cell in matrix.cells:
                by_task.setdefault(cell.task.id, []).append(cell)
            for task, cells in by_task.items():
                path = f"{name}/{task}"
                params: dict[str, Any] = {"task": task, "class": cells[0].task.cls}
                params["cells"] = [[c.arm.name, c.arm.role, c.run] for c in cells]
                params["engines"] = {arm.name: arm.engine for arm in suite.arms}
                needs = {f"{c.arm.name}/{c.run}": layout.record("cell", f"{path}/{c.arm.name}/{c.run}") for c in cells}
                yield path, params, needs
                parts[task] = layout.record("aggregate", path)
            level = 0
            while len(parts) > AGGREGATE_WIDTH:
                level += 1
                grouped: dict[str, str] = {}
                items = list(parts.items())
                for start in range(0, len(items), AGGREGATE_WIDTH):
                    path = f"{name}/+{level}.{start // AGGREGATE_WIDTH}"
                    chunk = dict(items[start : start + AGGREGATE_WIDTH])
                    yield path, {"parts": list(chunk), "skipped": []}, chunk
                    grouped[path.rsplit("/", 1)[1]] = layout.record("aggregate", path)
                parts = grouped
            yield name, {"parts": list(parts), "skipped": list(matrix.skipped)}, parts

    def report_params(self, name: str) -> dict[str, Any]:
        """What a suite's report says about the suite itself."""
        suite = self.suites[name]
        return {
            "suite": name,
            "profile": suite.profile,
            "arms": [{"name": a.name, "role": a.role, "of": a.of, "engine": a.engine} for a in suite.arms],
            "model": suite.model,
            "effort": suite.effort,
            "runs": suite.runs,
            "skipped": list(self.matrices[name].skipped),
        }

    def suite_steps(self, name: str) -> list[str]:
        """Steps of a suite in the order in which they should start: `suite:` depends on them all."""
        cells = [f"{name}/{c.task.id}/{c.arm.name}/{c.run}" for c in self.matrices[name].cells]
        return [*(f"session:{c}" for c in cells), *(f"cell:{c}" for c in cells), f"health:{name}", f"report:{name}"]

    def step(
        self,
        kind: str,
        name: str,
        params: Mapping[str, Any],
        needs: Mapping[str, str | None] | None = None,
        files: Mapping[str, str | None] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Declare a step and give it in doit's form. A need or file that is None is left out."""
        needed = {role: path for role, path in (needs or {}).items() if path}
        raw = {role: path for role, path in (files or {}).items() if path}
        step = self.workspace.declare(Step(kind, name, params, needed, raw, **more))
        targets = [step.target]
        if kind == "report":
            folder = f"{layout.ARTIFACTS}/{layout.FOLDERS[kind]}/{name}"
            targets += [f"{folder}/{file}" for file in ("report.md", "index.html", "results.jsonl")]
        return {
            "name": name,
            "actions": [(build, [self.workspace, step, self.progress])],
            "file_dep": [*needed.values(), *raw.values()],
            "targets": targets,
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


def session_params(suite: Suite, task: Task, arm: Arm) -> dict[str, Any]:
    """What can reach a session's result, and nothing else: a free engine is given no prompt, model or token limit."""
    limits: dict[str, Any] = {"setup_s": suite.limits.setup_s}
    said: dict[str, Any] = {"engine": arm.engine, "role": arm.role, "setup": task.setup, "run": 0}
    if task.sandbox_copy:
        said["sandbox_copy"] = list(task.sandbox_copy)
    if arm.replica is not None:
        said["replica"] = arm.replica
    if arm.engine not in FREE_ENGINES:
        limits |= {"session_s": suite.limits.session_s, "turns": suite.limits.turns, "tokens": suite.limits.tokens}
        said |= {"prompt": task.prompt, "model": suite.model, "effort": suite.effort}
        said |= {"expected_skill": arm.expects, "engine_params": dict(arm.params)}
    return said | {"limits": limits}
