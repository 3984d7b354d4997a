"""The rows of promotions: one per candidate of a suite, with what its decision is bound to. Nothing is decided here.

A candidate is decided together with every other one of the suite file that carries its overlay: an overlay is one change
(failure mode 15), whichever arms a command line names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import bench.layout as layout
from bench.core import promotion_scope
from bench.core.lock import source_id
from bench.core.suite import CANDIDATE, COMPARATOR, Arm, Suite, Task
from bench.make.pipeline import Pipeline, uses_assets


def rows(pipeline: Pipeline) -> Iterator[tuple[str, dict[str, Any], dict[str, str | None], dict[str, Any]]]:
    """(name, keyed params, needs, hints) of each candidate that a suite runs, in the suite's order."""
    for name in pipeline.suites:
        # Counted in the file: what a command line leaves out does not move a decision to another place.
        alone = sum(arm.role == CANDIDATE for arm in pipeline.written[name].arms) == 1
        for candidate in names(pipeline, name):
            params = _params(pipeline, name, candidate)
            file = "promotion.json" if alone else f"promotion-{candidate}.json"
            yield f"{name}/{candidate}", params, _needs(pipeline, name, params), {"file": file}


def applicable(pipeline: Pipeline) -> list[str]:
    """`<suite>/<candidate>` of every promotion."""
    return [f"{suite}/{candidate}" for suite in pipeline.suites for candidate in names(pipeline, suite)]


def needs(pipeline: Pipeline, suite: str) -> dict[str, str]:
    """The promotions of a suite by role, as its report takes them."""
    return {f"promotion/{name}": layout.record("promotion", f"{suite}/{name}") for name in names(pipeline, suite)}


def names(pipeline: Pipeline, suite: str) -> list[str]:
    """The candidates whose promotion a suite decides."""
    return [arm.name for arm in pipeline.suites[suite].arms if arm.role == CANDIDATE]


def _required(suite: Suite, candidate: str) -> list[Arm]:
    own = suite.arm(candidate)
    if own.overlay is None:
        return [own]
    return [arm for arm in suite.arms if arm.role == CANDIDATE and arm.overlay == own.overlay]


def _params(pipeline: Pipeline, name: str, candidate: str) -> dict[str, Any]:
    # What a decision rests on is read in the file: what the command line leaves out of it has no runs, and is named.
    suite, whole = pipeline.suites[name], pipeline.whole(name)
    required = _required(whole, candidate)
    return {
        "suite": name,
        "profile": suite.profile,
        "candidate": candidate,
        "pairs": [[arm.of, arm.name] for arm in required],
        "comparators": [arm.name for arm in whole.arms if arm.role == COMPARATOR],
        "tasks": [
            _binding(task) | {"candidate_arms": [arm.name for arm in required if arm.runs(task.id)]}
            for task in promotion_scope.tasks(whole, required, expensive=suite.expensive)
        ],
        "thresholds": {arm.name: promotion_scope.thresholds(suite, arm) for arm in required},
        "left_out": [told for said in left_out(pipeline, name, candidate).values() for told in said],
        "acknowledge": sorted(suite.promotion.get("acknowledge", ())),
        "max_age_days": suite.limits.max_age_days,
        "overlay": _relative(suite.arm(candidate).overlay),
        "homes": {PurePosixPath(skill).name: f"{layout.CORPUS}/{skill}" for arm in required for skill in arm.skills},
        "mirrors": [[m.folder, None if m.skills is None else sorted(m.skills)] for m in suite.mirrors],
    }


def left_out(pipeline: Pipeline, name: str, candidate: str) -> dict[str, list[str]]:
    """{variable: what it leaves out} of what the suite's file has for the decision on a candidate."""
    whole = pipeline.whole(name)
    pairs = [(str(arm.of), arm.name) for arm in _required(whole, candidate)]
    return promotion_scope.left_out(whole, pipeline.suites[name], pairs)


def _relative(overlay: str | None) -> str | None:
    """An overlay as a record may name it: one given by an absolute path by its last part alone."""
    return PurePosixPath(overlay).name if overlay and overlay.startswith(("/", "~")) else overlay


def _needs(pipeline: Pipeline, name: str, params: dict[str, Any]) -> dict[str, str | None]:
    suite = pipeline.suites[name]
    needs: dict[str, str | None] = {"aggregate": layout.record("aggregate", name)}
    involved = {*params["comparators"], *(arm for pair in params["pairs"] for arm in pair)}
    for arm in suite.arms:
        if arm.name in involved:
            needs[f"skill/{arm.name}"] = pipeline.skill_record(name, arm)
    wanted = {task["id"] for task in params["tasks"]}
    for task in pipeline.matrices[name].tasks:
        if task.id in wanted:
            needs |= _of_task(pipeline, suite, task)
    return needs


def _of_task(pipeline: Pipeline, suite: Suite, task: Task) -> dict[str, str | None]:
    own = pipeline.task_names[suite.name, task.id]
    return {
        f"oracle/{task.id}": layout.record("oracle", own) if task.oracle else None,
        f"template/{task.id}": layout.record("template", pipeline.source_name(suite, task)),
        f"assets/{task.id}": layout.record("assets", own) if uses_assets(task) else None,
    }


def _binding(task: Task) -> dict[str, Any]:
    """A task as the suite says it, in the reference's names (spec 1.1): texts by their sha256."""
    return {
        "id": task.id,
        "class": task.cls,
        "repo_identity": source_id(task.source),
        "ref": task.source.get("ref"),
        "prompt_digest": _digest(task.prompt),
        "setup_digest": _digest(task.setup),
        "verify_digest": _digest(task.verify),
        "expensive": task.expensive,
        "sandbox_copy": list(task.sandbox_copy),
        "sandbox_dependencies": [{"source": source, "target": target} for source, target in task.sandbox_dependencies],
    }


def _digest(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
