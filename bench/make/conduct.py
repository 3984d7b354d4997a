"""A run from lock to stamp: workers, signals, summary, exit code."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from doit.control import TaskControl
from doit.runner import MThreadRunner
from doit.task import Stream

from bench.effects import clock, console, files, lock
from bench.make import execute, stamp, summary
from bench.make.pipeline import Pipeline
from bench.make.reporter import StepReporter
from bench.make.step import Step
from bench.make.workspace import Workspace

CANCELLED = 130
MAX_WORKERS = 3
"""Workers where neither the command line nor a suite says how many."""
DAY_S = 86_400
GRACE_S = 2.0
"""Within this time after a signal every child is dead (design section 7)."""


@contextlib.contextmanager
def writing(workspace: Workspace, *, wait: bool) -> Iterator[None]:
    """Hold the workspace for writing, with signals turned into an orderly end."""
    with lock.held(workspace.layout.lock, wait=wait), _signals(workspace.run.cancel.set):
        workspace.index.writable = True
        execute.sweep_scratch(workspace)
        try:
            yield
        finally:
            workspace.index.close()
            workspace.index.writable = False


class Conductor:
    """Runs the selected steps (`names`, with all that they need: `closure`) and tells what came of it."""

    def __init__(self, pipeline: Pipeline, tasks: list[Any], names: list[str], closure: list[Step]) -> None:
        self.pipeline = pipeline
        self.tasks = tasks
        self.names = names
        self.closure = closure

    def run(self, dep_manager: Any, process: int, *, bare: bool) -> int:
        """Exit code of design section 7."""
        pipeline, run = self.pipeline, self.pipeline.workspace.run
        pipeline.check_ready([suite for suite in pipeline.suites if self._touches(suite)])
        control = TaskControl(self.tasks)
        control.process(self.names)
        if pipeline.given:
            console.say("with " + " ".join(f"{k}={console.visible(v)}" for k, v in pipeline.given.items()))
        reporter = StepReporter(None, {"progress": pipeline.progress, "total": len(self.closure)})
        runner = MThreadRunner(
            dep_manager, reporter, continue_=True, stream=Stream(0), num_process=process or self._workers()
        )
        try:
            runner.run_all(control.task_dispatcher())
        except KeyboardInterrupt:
            return self._cancelled()
        pipeline.progress.finish()
        code = summary.tell(pipeline, self.names, reporter.failures)
        if code == 0 and bare and not pipeline.given and not run.warnings:
            self._leave_stamp()
        return code

    def _cancelled(self) -> int:
        progress = self.pipeline.progress
        self.pipeline.workspace.run.cancel.set()
        deadline = clock.monotonic() + GRACE_S
        while progress.busy and clock.monotonic() < deadline:
            clock.sleep(0.02)
        progress.finish()
        console.say_err("cancelled; what was finished is kept, `doit` goes on from there")
        return CANCELLED

    def _leave_stamp(self) -> None:
        workspace = self.pipeline.workspace
        wanted = {step.id for step in self.closure}
        # Files of a suite that was not asked for decide the default suites' matrix as little as they decide its results,
        # but a broken one is to be told: every corpus file counts.
        paths = {path.relative_to(workspace.layout.root).as_posix() for path in workspace.layout.corpus.glob("*.*")}
        expires = clock.now_utc().timestamp() + 365 * DAY_S
        for task in self.tasks:
            if task.name in wanted:
                paths.update(task.file_dep)
                paths.update(task.targets)
        for step in self.closure:
            facts = workspace.index.known(step.target)
            if facts and facts.measured_at and step.max_age_days is not None:
                expires = min(expires, clock.parse(facts.measured_at).timestamp() + step.max_age_days * DAY_S)
        said = summary.unchanged(self.pipeline, self.names)
        data = stamp.leave(workspace.layout.root, sorted(paths), said, expires)
        files.write_atomic(workspace.layout.stamp, data, sync=False)

    def _touches(self, suite: str) -> bool:
        return any(name.split(":", 1)[-1].split("/", 1)[0] == suite for name in self.names)

    def _workers(self) -> int:
        wanted = [s.workers for name, s in self.pipeline.suites.items() if s.workers and self._touches(name)]
        return max(wanted) if wanted else max(1, min(MAX_WORKERS, os.cpu_count() or 1))


@contextlib.contextmanager
def _signals(cancel: Callable[[], None]) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        cancel()
        # The second signal of an impatient user must not break the orderly end.
        for other in handled:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt

    handled = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, stop) for number in handled]
    try:
        yield
    finally:
        for number, old in zip(handled, before, strict=True):
            signal.signal(number, old)
