"""One look over the selected steps before doit builds anything of them: where all stand, doit has nothing to decide.

It asks what doit's own status check would ask, of the same index, rows and checker, and walks the same declarations; it only
spares doit's objects and its dispatcher, which take longer than all these questions. It answers yes or not at all: at the
first step that may have to run, or that it cannot judge, doit itself takes over with nothing decided.
"""

from __future__ import annotations

import fnmatch
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.make.checker import CHECKER
from bench.make.step import Step
from bench.make.workspace import Workspace

CREATOR = "task_"
Declared = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The selected names, and the steps behind them, in no order."""

    names: list[str]
    steps: list[Step]


def declared(namespace: Mapping[str, Any]) -> Declared | None:
    """What a dodo file of plain generators declares, by doit's names; None for any other."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, creator in namespace.items():
        if not name.startswith(CREATOR):
            continue
        if not inspect.isgeneratorfunction(creator) or creator.__code__.co_argcount or creator.__dict__:
            return None
        kind = name.removeprefix(CREATOR)
        for item in creator():
            if (
                not isinstance(item, dict)
                or not item.get("name")
                or found.setdefault(f"{kind}:{item['name']}", item) is not item
            ):
                return None
    return found


def chosen(workspace: Workspace, found: Declared, words: Iterable[str]) -> Chosen | None:
    """What words select; None where one is anything but a step or a pattern of steps alone, or needs what is not a step."""
    groups = {name.partition(":")[0] for name in found}
    names: list[str] = []
    for word in words:
        matched = [word] if word in found else []
        if not matched and ("*" in word or "?" in word) and not fnmatch.filter(groups, word):
            matched = [name for name in found if fnmatch.fnmatchcase(name, word)]
        if not matched:
            return None
        names += matched
    steps = _behind(workspace, found, names)
    return Chosen(names, steps) if names and steps is not None else None


def _behind(workspace: Workspace, found: Declared, names: list[str]) -> list[Step] | None:
    maker = {target: name for name, item in found.items() for target in item.get("targets", ())}
    seen: set[str] = set()
    steps: list[Step] = []
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        item = found.get(name)
        if item is None:
            return None
        pending += item.get("task_dep", ())
        if item["actions"]:
            step = workspace.steps.get(item["targets"][0])
            if step is None or step.id != name or step.inputs != item["file_dep"]:
                return None
            steps.append(step)
            pending += [maker[path] for path in step.inputs if path in maker]
    return steps


def stand(workspace: Workspace, steps: Iterable[Step]) -> bool:
    """Whether doit would run none of these: its questions, its saved rows, our checker's answers."""
    contents: dict[str, str] = {}
    for step in steps:
        facts = workspace.index.known(step.target)
        if facts is None or not workspace.stands(step, facts):
            return False
        contents[step.target] = facts.content
    return all(unmoved(workspace, step, contents) for step in steps)


def unmoved(workspace: Workspace, step: Step, contents: Mapping[str, str]) -> bool:
    """Whether doit would leave alone a step whose record stands: its inputs are those of its saved row, and what is laid out
    of it is there. `contents`: of records, by path, where they are known."""
    row, inputs = workspace.index.rows.get(step.id), step.inputs
    if row is None or row.get("checker:") != CHECKER or set(row.get("deps:") or ()) != set(inputs):
        return False
    if any(row.get(path) != (contents.get(path) or workspace.index.digest(path)) for path in inputs):
        return False
    return all(workspace.laid_out(path) for path in step.targets[1:])
