"""`doit [run] [STEP…]`: bring evidence up to date."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Any

from doit.cmd_base import DoitCmdBase
from doit.control import TaskControl
from doit.runner import MThreadRunner
from doit.task import Stream

from bench.effects import clock, console, files, lock
from bench.make import execute, stamp, summary
from bench.make.commands.base import CANCELLED, StepCommand, option
from bench.make.reporter import StepReporter

MAX_WORKERS = 3
"""Workers where neither the command line nor a suite says how many."""
DAY_S = 86_400
GRACE_S = 2.0
"""Within this time after a signal every child is dead (design section 7)."""


class Run(StepCommand):
    """doit's `run` with our exit codes, thread workers, signals and lock; what has no place here has no option."""

    name = "run"
    doc_purpose = "bring evidence up to date"
    doc_usage = "[STEP or PATTERN…] [name=value…]"
    doc_description = None
    execute_tasks = True
    cmd_options = (
        option("process", int, 0, "workers [default: the suite's `workers`, else min(3, cores)]", "n"),
        option("wait", bool, False, "wait for another doit to end instead of refusing"),
    )

    def execute(self, params: Any, args: list[str]) -> int:
        """Load, lock, run, tell."""
        self.loader.setup(params)
        pipeline = self.pipeline
        workspace = pipeline.workspace
        with lock.held(workspace.layout.lock, wait=params["wait"]), _signals(workspace.run.cancel.set):
            workspace.index.writable = True
            execute.sweep_scratch(workspace)
            try:
                return int(DoitCmdBase.execute(self, params, args))
            finally:
                workspace.index.close()
                workspace.index.writable = False

    def _execute(self, process: int) -> int:
        pipeline, run = self.pipeline, self.pipeline.workspace.run
        names = self.selected(self.sel_tasks or [])
        pipeline.check_ready([suite for suite in pipeline.suites if self._touches(names, suite)])
        control = TaskControl(self.task_list)
        control.process(names)
        if pipeline.given:
            console.say("with " + " ".join(f"{k}={console.visible(v)}" for k, v in pipeline.given.items()))
        reporter = StepReporter(self.outstream, {"progress": pipeline.progress, "total": len(self.closure(names))})
        runner = MThreadRunner(
            self.dep_manager, reporter, continue_=True, stream=Stream(0), num_process=process or self._workers(names)
        )
        try:
            runner.run_all(control.task_dispatcher())
        except KeyboardInterrupt:
            run.cancel.set()
            deadline = clock.monotonic() + GRACE_S
            while pipeline.progress.busy and clock.monotonic() < deadline:
                clock.sleep(0.02)
            pipeline.progress.finish()
            console.say_err("cancelled; what was finished is kept, `doit` goes on from there")
            return CANCELLED
        pipeline.progress.finish()
        code = summary.tell(pipeline, names, reporter.failures)
        if code == 0 and self.sel_default_tasks and not pipeline.given:
            self._leave_stamp(names)
        return code

    def _leave_stamp(self, names: list[str]) -> None:
        workspace = self.pipeline.workspace
        wanted = {step.id for step in self.closure(names)}
        # Files of a suite that was not asked for decide the default suites' matrix as little as they decide its results,
        # but a broken one is to be told: every corpus file counts.
        paths = {path.relative_to(workspace.layout.root).as_posix() for path in workspace.layout.corpus.glob("*.*")}
        expires = float("inf")
        for task in self.task_list:
            if task.name in wanted:
                paths.update(task.file_dep)
                paths.update(task.targets)
        for step in workspace.steps.values():
            facts = workspace.index.known(step.target) if step.id in wanted else None
            if facts and facts.measured_at and step.max_age_days is not None:
                born = clock.parse(facts.measured_at).timestamp()
                expires = min(expires, born + step.max_age_days * DAY_S)
        said = summary.unchanged(self.pipeline, names)
        forever = clock.now_utc().timestamp() + 365 * DAY_S
        files.write_atomic(
            workspace.layout.stamp,
            stamp.leave(workspace.layout.root, sorted(paths), said, min(expires, forever)),
            sync=False,
        )

    @staticmethod
    def _touches(names: list[str], suite: str) -> bool:
        return any(word.split(":", 1)[-1].split("/", 1)[0] == suite for word in names)

    def _workers(self, names: list[str]) -> int:
        wanted = [
            suite.workers for name, suite in self.pipeline.suites.items() if suite.workers and self._touches(names, name)
        ]
        return max(wanted) if wanted else max(1, min(MAX_WORKERS, os.cpu_count() or 1))


@contextlib.contextmanager
def _signals(cancel: Any) -> Iterator[None]:
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
