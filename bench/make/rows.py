"""The rows of each kind of step but sessions and cells: what dodo.py iterates over. Names, keyed params, inputs, raw files.

Reads no file of a source, skill or oracle: only names, kinds and modes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import bench.layout as layout
from bench.core.matrix import Cell
from bench.core.skills import OVERLAY, PLUGIN
from bench.core.suite import FREE_ENGINES
from bench.effects import engines, indexers, interpreter, listing, mounts, plugins, sandbox
from bench.effects.sources import directory
from bench.errors import MissingPart
from bench.make import overlays
from bench.make.pipeline import Pipeline, uses_assets

AGGREGATE_WIDTH = 100
"""Inputs of one aggregate at most: doit's cost grows with their square (design section 3)."""
Paths = dict[str, str]
Maybe = dict[str, str | None]


def sources(pipeline: Pipeline) -> Iterator[tuple[str, dict[str, Any], Paths, dict[str, Any]]]:
    """(source, keyed params, raw files by role, where to look)."""
    done = set()
    for suite, task in pipeline.tasks():
        name = pipeline.source_name(suite, task)
        if name in done:
            continue
        done.add(name)
        if "dir" in task.source:
            home = directory.home(task.source, pipeline.root)
            where = home.relative_to(pipeline.root) if home.is_relative_to(pipeline.root) else home
            seen = listing.below(home, links=True, where=where.as_posix())
            shape = {"kind": "dir", "links": seen.links, "executable": seen.executable}
            files = {path: (where / path).as_posix() for path in seen.files}
            yield name, {"source": shape, "markers": pipeline.markers}, files, {"source": dict(task.source)}
            continue
        pinned = pipeline.lock(suite.name).source(task.source)
        content = {part: pinned[part] for part in ("commit", "sha256") if part in pinned}
        kind = "git" if "git" in task.source else "sdist"
        yield name, {"source": {"kind": kind, **content}, "markers": pipeline.markers}, {}, {"source": pinned}


def graphs(pipeline: Pipeline) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(graph, template's path, params) of suites that have one."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for suite, task in pipeline.tasks():
        name = pipeline.graph_name(suite, task)
        if name is None:
            continue
        if name not in found:
            params = {"indexer": suite.graph, "seconds": 0, "markers": pipeline.markers, "identity": _identity(suite.graph)}
            found[name] = layout.record("template", pipeline.source_name(suite, task)), params
        # One graph serves every suite that names the source: it may take as long as the most patient of them allows.
        found[name][1]["seconds"] = max(found[name][1]["seconds"], suite.limits.graph_s)
    for name, (template, params) in found.items():
        yield name, template, params


def _identity(indexer: str) -> dict[str, str]:
    """An absent indexer is refused when its graph is made, and not when other suites are only loaded."""
    try:
        return indexers.create(indexer).identity()
    except MissingPart as error:
        return {"missing": error.what}


def assets(pipeline: Pipeline) -> Iterator[tuple[str, dict[str, Any], Maybe, dict[str, Any]]]:
    """(name, keyed params, needs, where to look) of each task that has dependencies.

    A source that is no sdist says in its own files what it is called: hence its template.
    """
    for suite, task, name in pipeline.named_tasks():
        if uses_assets(task):
            entries = [dict(entry) for entry in pipeline.lock(suite.name).requirements(task.dependencies)]
            own = task.source["sdist"].partition("==")[0] if "sdist" in task.source else None
            mounted = [
                {"source": source, "target": target, "tree": mounts.fingerprint(task.source, pipeline.root, source)}
                for source, target in task.sandbox_dependencies
            ]
            params = {"lock": entries, "python": interpreter.minor(), "exclude_dist": own, "mounts": mounted}
            template = None if own else layout.record("template", pipeline.source_name(suite, task))
            yield name, params, {"template": template}, {"source": dict(task.source)}


def oracles(pipeline: Pipeline) -> Iterator[tuple[str, dict[str, Any], Paths]]:
    """(name, params, raw files by target) of each task that has an oracle."""
    for _, task, name in pipeline.named_tasks():
        if task.oracle is not None:
            said = dataclasses.asdict(task.oracle)
            del said["files"]
            if not task.oracle.labels:
                del said["labels"]
            listed: list[dict[str, Any]] = []
            files = {}
            for file in task.oracle.files:
                if file.sdist is None:
                    listed.append({"target": file.target})
                    files[file.target] = f"{layout.ORACLES}/{file.source}"
                else:
                    pinned = {"sdist": file.sdist, "sha256": file.sha256, "path": file.source}
                    listed.append({"target": file.target} | pinned)
            yield name, {"oracle": said, "files": listed}, files


def golds(pipeline: Pipeline) -> Iterator[tuple[str, str, dict[str, Any], Maybe]]:
    """(name, template's path, params, raw files) of each task that has a reference solution."""
    for suite, task, name in pipeline.named_tasks():
        gold = task.gold
        if gold is not None:
            params = {"exclude": list(gold.exclude), "sdist": gold.sdist, "sha256": gold.sha256} if gold.sdist else {}
            files = {"review" if task.review else "patch": f"{layout.ORACLES}/{gold.patch}" if gold.patch else None}
            yield name, layout.record("template", pipeline.source_name(suite, task)), params, files


def expected(pipeline: Pipeline) -> Iterator[tuple[str, dict[str, Any], Maybe]]:
    """(name, params, needs) where expected test ids are learned from gold."""
    for suite, task, name in pipeline.named_tasks():
        if task.oracle is not None and task.gold is not None and not task.review:
            needs = {
                "template": layout.record("template", pipeline.source_name(suite, task)),
                "gold": layout.record("gold", name),
                "oracle": layout.record("oracle", name),
                "assets": layout.record("assets", name) if uses_assets(task) else None,
            }
            yield name, {"oracle_s": suite.limits.oracle_s, "aliases": dict(suite.env_aliases)}, needs


def skills(pipeline: Pipeline) -> Iterator[tuple[str, dict[str, Any], Paths]]:
    """(name, params, raw files by role) of each arm that has skills or a plugin."""
    for suite in pipeline.suites.values():
        for arm in suite.arms:
            if pipeline.skill_record(suite.name, arm):
                files: Paths = overlays.base(pipeline.root, arm)
                files |= {f"{OVERLAY}/{path}": where for path, where in overlays.of_arm(pipeline.root, arm).items()}
                params: dict[str, Any] = {"skills": overlays.names(arm), "overlay": arm.overlay is not None}
                if arm.plugin:
                    files |= {f"{PLUGIN}/{path}": where for path, where in plugins.listed(arm.plugin, pipeline.root).items()}
                    params["plugin"] = {"version": arm.plugin_version, "expects": sorted(set(arm.expects.values()))}
                yield f"{suite.name}/{arm.name}", params, files


def runtimes(pipeline: Pipeline) -> Iterator[tuple[str, dict[str, Any]]]:
    """(engine, params) of every engine that any arm uses."""
    for engine in sorted({arm.engine for suite in pipeline.suites.values() for arm in suite.arms}):
        made = engines.create(engine)
        yield engine, {"engine": engine, "protocol": made.protocol, "sandbox": sandbox.PROTOCOL, **made.identity()}


def preflights(pipeline: Pipeline) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(suite/engine, params, runtime's path) of each engine of agents in each suite that has cells of it."""
    for name, matrix in pipeline.matrices.items():
        if pipeline.suites[name].sandbox is not None:
            continue
        for engine in sorted({cell.arm.engine for cell in matrix.cells} - FREE_ENGINES):
            yield f"{name}/{engine}", {"engine": engine}, layout.record("runtime", engine)


def aggregates(pipeline: Pipeline) -> Iterator[tuple[str, dict[str, Any], Paths]]:
    """(name, params, needs) of each aggregate: a task's cells, then the suite's tasks, each after what it is made from."""
    for name, matrix in pipeline.matrices.items():
        engine_of = {arm.name: arm.engine for arm in pipeline.suites[name].arms}
        by_task: dict[str, list[Cell]] = {}
        for cell in matrix.cells:
            by_task.setdefault(cell.task.id, []).append(cell)
        for task, cells in by_task.items():
            said = {"task": task, "class": cells[0].task.cls, "engines": engine_of}
            found = [
                Part(f"{c.arm.name}/{c.run}", layout.record("cell", f"{name}/{c.name}"), ([c.arm.name, c.arm.role, c.run],))
                for c in cells
            ]
            for path, parts in _tree(f"{name}/{task}", found):
                yield path, said | {"cells": [cell for part in parts for cell in part.cells]}, _needs(parts)
        tasks = [Part(task, layout.record("aggregate", f"{name}/{task}")) for task in by_task]
        for path, parts in _tree(name, tasks):
            yield path, {"parts": [part.role for part in parts], "skipped": list(matrix.skipped)}, _needs(parts)


class Part(NamedTuple):
    """An input of an aggregate: its role, the path of its record, and the cells behind it as [arm, role, run]."""

    role: str
    record: str
    cells: tuple[list[Any], ...] = ()


def _tree(path: str, parts: list[Part]) -> Iterator[tuple[str, list[Part]]]:
    """(name, inputs) of the aggregate of these parts, after those of groups of them where they are too many for one."""
    level = 0
    while len(parts) > AGGREGATE_WIDTH:
        level += 1
        groups = [parts[start : start + AGGREGATE_WIDTH] for start in range(0, len(parts), AGGREGATE_WIDTH)]
        parts = []
        for number, group in enumerate(groups):
            role = f"+{level}/{number}"
            yield f"{path}/{role}", group
            cells = tuple(cell for part in group for cell in part.cells)
            parts.append(Part(role, layout.record("aggregate", f"{path}/{role}"), cells))
    yield path, parts


def _needs(parts: list[Part]) -> Paths:
    return {part.role: part.record for part in parts}


def report_params(pipeline: Pipeline, name: str) -> dict[str, Any]:
    """What a suite's report says about the suite itself."""
    suite = pipeline.suites[name]
    return {
        "suite": name,
        "profile": suite.profile,
        "arms": [{"name": a.name, "role": a.role, "of": a.of, "engine": a.engine} for a in suite.arms],
        "model": suite.model,
        "effort": suite.effort,
        "runs": suite.runs,
        "skipped": list(pipeline.matrices[name].skipped),
        "refs": {task.id: task.source["ref"] for task in suite.tasks if "ref" in task.source},
    }


def report_needs(pipeline: Pipeline, name: str) -> dict[str, str | None]:
    """The aggregate, and the skills of arms with a plugin, whose version and manifest stand in their rows."""
    plugged = (arm for arm in pipeline.suites[name].arms if arm.plugin)
    return {"aggregate": layout.record("aggregate", name)} | {
        f"skill/{arm.name}": pipeline.skill_record(name, arm) for arm in plugged
    }
