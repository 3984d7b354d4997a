"""A step whose work is a function of the test: for what the pipeline does around steps. `hints["does"]` is that function."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.core.records import FINAL, UNUSABLE
from bench.effects.context import Context, Job, Made
from bench.make import execute
from bench.make.progress import Progress
from bench.make.step import Step
from bench.make.workspace import Workspace


def make(job: Job, context: Context) -> Made:
    """What the executor calls."""
    made: Made = job.hints["does"](job, context)
    return made


@dataclass
class Scripted(Step):
    """A step of any kind that runs `does`."""

    @property
    def module(self) -> str:
        """This module."""
        return __name__


def step(does: Callable[[Job, Context], Made], name: str = "s/t/a/0", kind: str = "session", **more: Any) -> Scripted:
    """A scripted step; a session without inputs unless told otherwise."""
    return Scripted(kind, name, more.pop("params", {}), hints={"does": does}, **more)


class Work:
    """Work that counts how often it is done, and says `body`."""

    def __init__(self, body: dict[str, Any], state: str = FINAL) -> None:
        self.body = body
        self.state = state
        self.count = 0

    def __call__(self, job: Job, context: Context) -> Made:
        self.count += 1
        body = self.body | ({"attempt": self.count} if self.state == UNUSABLE else {})
        reason = None if self.state == FINAL else "no admissible evidence"
        return Made(body, {"out": context.store.put(b"out")}, self.state, reason)


def final(**body: Any) -> Work:
    """Work that yields evidence."""
    return Work({"n": 1} | body)


def unusable(spent: float = 1.5) -> Work:
    """Work that runs and yields none; numbers its attempts."""
    return Work({"spent_usd": spent}, UNUSABLE)


def opened(root: Path) -> Workspace:
    """A workspace as a command that holds the lock has it: a new process, as far as the index goes."""
    from bench.make import workspace

    workspace._INDEXES.clear()
    made = Workspace(root)
    made.index.writable = True
    return made


def build(workspace: Workspace, made: Step) -> str:
    """Bring a step up to date as doit does; what was done."""
    workspace.steps[made.target] = made
    if workspace.index.known(made.target) is not None and workspace.stands(made):
        return "stands"
    execute.build(workspace, made, Progress())
    return workspace.run.did[made.id]


def together(*calls: Callable[[], Any]) -> None:
    """Run calls at the same time, to their ends."""
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
