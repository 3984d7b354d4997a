"""What can reach a session's result beside its input records: what it is keyed on, and by which two arms are told apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bench.core import digest, graph_queries, model_routes
from bench.core.suite import FREE_ENGINES, Arm, Suite, Task


def of(suite: Suite, task: Task, arm: Arm) -> dict[str, Any]:
    """Of run 0, and nothing else: a free engine is given no prompt, model or token limit."""
    limits: dict[str, Any] = {"setup_s": suite.limits.setup_s} if task.setup or task.patch else {}
    said: dict[str, Any] = {"engine": arm.engine, "role": arm.role, "setup": task.setup, "run": 0}
    if arm.replica is not None:
        said["replica"] = arm.replica
    if arm.engine not in FREE_ENGINES:
        limits |= {"session_s": suite.limits.session_s, "turns": suite.limits.turns, "tokens": suite.limits.tokens}
        said |= {"prompt": task.prompt, "model": suite.model, "effort": suite.effort}
        said |= {"phases": list(arm.phases), "expected_skills": dict(arm.expects), "skill_tool": arm.skill_tool}
        said |= {"engine_params": model_routes.settings(arm.params, suite.model)}
    if suite.sandbox is not None:
        said["sandbox"] = suite.sandbox
    if arm.graph:
        said["graph_tools"] = graph_queries.PROTOCOL
    return said | {"limits": limits}


def twins(suite: Suite, arms: Iterable[Arm]) -> tuple[Arm, Arm] | None:
    """Two arms that would be one piece of evidence on some task, or None."""
    seen: dict[bytes, list[Arm]] = {}
    for arm in arms:
        # What an arm's skill record is made of stands for its content: whether files differ is not asked here.
        made_of = [arm.skills, arm.overlay, arm.plugin, arm.plugin_version]
        alike = seen.setdefault(digest.canonical([of(suite, suite.tasks[0], arm), made_of]), [])
        for other in alike:
            if any(arm.runs(task.id) and other.runs(task.id) for task in suite.tasks):
                return other, arm
        alike.append(arm)
    return None
