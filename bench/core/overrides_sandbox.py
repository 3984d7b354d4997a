"""`sandbox=` on the command line: the sandbox, or `unsafe-host` for reviews where a machine cannot make one.

What the host cannot give is refused before anything runs: other profiles, clients, graphs, dependencies.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bench.core import nearest
from bench.core.names import shown
from bench.core.suite import FREE_ENGINES, Suite
from bench.errors import UsageError

UNSAFE = "unsafe-host"
"""Value of the variable, of a session's parameter of the same name, and of its `backing`."""
SANDBOXED = ("bubblewrap", "default")
"""Spellings of what holds without the variable."""
PROFILE, ENGINE = "review", "loop"
WHERE = "sandbox="
REFERENCE = {None: "bwrap", UNSAFE: "host-unsafe"}
"""Backing of a session → the reference's name of it; every other backing is one of bubblewrap."""
WARNING = (
    f"{UNSAFE}: no sandbox: the agent's commands run as this user, and can read, change and send all that this user can; "
    "its evidence is its own, and is never applied"
)
"""Said before the run and in the report."""


def sandbox(suite: Suite, value: Any) -> Suite:
    """The suite with that sandbox; `check` comes when the arms and tasks are chosen."""
    text = str(value)
    if text != UNSAFE and text not in SANDBOXED:
        known = (*SANDBOXED, UNSAFE)
        raise UsageError(f"not a sandbox: {shown(text)}", where=WHERE, remedy=nearest.remedy(text, known))
    return replace(suite, sandbox=UNSAFE if text == UNSAFE else None)


def check(suite: Suite) -> None:
    """Raise UsageError for what cannot be measured without the sandbox."""
    if suite.sandbox is None:
        return
    if suite.profile != PROFILE:
        what = f"{UNSAFE} is for suites of reviews, and {shown(suite.name)} is of the profile {suite.profile}"
        raise UsageError(what, where=WHERE, remedy="leave it out, or name a suite of reviews")
    for arm in suite.arms:
        if arm.engine not in {*FREE_ENGINES, ENGINE}:
            what = f"the arm {shown(arm.name)} needs the sandbox: its engine is {arm.engine}"
            raise UsageError(what, where=WHERE, remedy=f"choose arms of the engine {ENGINE} with arms=")
        if arm.graph or arm.takes_plugin or (arm.engine not in FREE_ENGINES and arm.phases != (PROFILE,)):
            what = f"the arm {shown(arm.name)} needs the sandbox: it has a graph, a plugin or more phases than its review"
            raise UsageError(what, where=WHERE, remedy="choose other arms with arms=")
    for task in suite.tasks:
        if task.dependencies or task.sandbox_dependencies or task.sandbox_copy:
            what = f"the task {shown(task.id)} needs the sandbox: it has dependencies"
            raise UsageError(what, where=WHERE, remedy="choose other tasks with tasks=")


def backend(backing: object) -> str:
    """What the reference calls the backing of a session."""
    return REFERENCE[UNSAFE if backing == UNSAFE else None]
