"""A run from lock to stamp: workers, signals, summary, exit code."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from doit.control import TaskControl
from doit.runner import MThreadRunner
from doit.task import Stream

import bench.layout as layout
from bench.core import overrides_sandbox
from bench.effects import clock, console, files, lock
from bench.errors import Cancelled, UsageError
from bench.make import execute, stamp, summary, variables, verdicts, watch
from bench.make.corpus import check_files
from bench.make.pipeline import Pipeline
from bench.make.reporter import StepReporter
from bench.make.step import Step
from bench.make.workspace import Workspace

DEFAULT_WORKERS = 3
"""Workers where neither the command line nor a suite says how many."""
MAX_WORKERS = 64
DAY_S = 86_400
GRACE_S = 2.0
"""Within this time after a signal every child is dead (design section 7)."""


@contextlib.contextmanager
def writing(workspace: Workspace, *, wait: bool = False) -> Iterator[None]:
    """Hold the workspace for writing, with signals turned into an orderly end."""
    with lock.held(workspace.layout.lock, wait=wait), _signals(workspace.run.cancel.set):
        workspace.refresh()
        workspace.index.writable = True
        try:
            yield
        finally:
            workspace.run.gateway.close()
            workspace.index.close()
            workspace.index.writable = False


def check_workers(process: int | None) -> None:
    """Raises UsageError for a number of workers that makes no sense."""
    if process is not None and not 1 <= process <= MAX_WORKERS:
        raise UsageError(f"{process} workers", where="-n", remedy=f"give a number from 1 to {MAX_WORKERS}")


class Conductor:
    """Runs the steps that `words` select (`names`, with all that they need: `closure`) and tells what came of it."""

    def __init__(self, pipeline: Pipeline, words: list[str], names: list[str], closure: list[Step]) -> None:
        self.pipeline = pipeline
        self.words = words
        self.names = names
        self.closure = closure

    def _ready(self) -> str | None:
        """Refuse what cannot be run, say with what it is run; gives the name of the cassette to record."""
        pipeline = self.pipeline
        execute.sweep_scratch(pipeline.workspace)
        pipeline.check_ready(self._touched)
        check_files(pipeline.workspace, self.closure)
        record = pipeline.given.get(variables.RECORD)
        if record is not None:
            from bench.make import recording  # reads cassettes, which few runs write

            recording.check(record)
        if pipeline.given:
            console.say("with " + " ".join(f"{k}={console.visible(v)}" for k, v in pipeline.given.items()))
        if any(pipeline.suites[name].sandbox is not None for name in self._touched):
            console.say_err(f"warning: {overrides_sandbox.WARNING}")
        return record

    def _end(self, failures: list[str], record: str | None) -> int:
        """The cassette that was asked for, the summary, and the stamp of a green run."""
        if record is not None:
            from bench.make import recording

            recording.write(self.pipeline.workspace, self.closure, record)
        code = summary.tell(self.pipeline, self.names, failures)
        quiet = not self.pipeline.given and not self.pipeline.workspace.run.warnings
        if code == 0 and quiet and all(name.partition(":")[0] in summary.TOLD for name in self.names):
            self._leave_stamp()
        return code

    def stand(self) -> int:
        """Tell of steps that are all up to date. Exit code of design section 7."""
        record = self._ready()
        self.pipeline.progress.done = len(self.closure)
        return self._end([], record)

    def run(self, tasks: list[Any], dep_manager: Any, process: int | None) -> int:
        """Exit code of design section 7."""
        pipeline, run = self.pipeline, self.pipeline.workspace.run
        record = self._ready()
        if any(step.paid for step in self.closure):
            from bench.make import live  # for those who pay

            live.check(pipeline.workspace, self.closure)
        control = TaskControl(tasks)
        control.process(self.names)
        options: dict[str, Any] = {"progress": pipeline.progress, "total": len(self.closure), "stopped": lambda: run.stopped}
        reporter = StepReporter(None, options)
        runner = StoppableRunner(
            dep_manager, reporter, continue_=True, stream=Stream(0), num_process=process or self._workers()
        )
        runner.stopped = options["stopped"]
        pipeline.progress.paused = lambda: run.admission.paused
        pipeline.progress.spent = lambda: run.admission.spent.text
        try:
            runner.run_all(control.task_dispatcher())
        except KeyboardInterrupt:
            return self._cancelled()
        pipeline.progress.finish()
        run.refused = run.refused or pipeline.workspace.index.fault
        return self._end(reporter.failures, record)

    def _cancelled(self) -> int:
        progress, run = self.pipeline.progress, self.pipeline.workspace.run
        run.cancel.set()
        deadline = clock.monotonic() + GRACE_S
        # Beside the sessions, which end without it: one after the other would take longer than is allowed.
        stopping = threading.Thread(target=run.gateway.close, name="gateway stops")
        stopping.start()
        while progress.busy and clock.monotonic() < deadline:
            clock.sleep(0.02)
        stopping.join(max(0.0, deadline - clock.monotonic()))
        progress.finish()
        console.say_err("cancelled; what was finished is kept, `doit` goes on from there")
        # An outage beats cancelled: whoever sees it stop the run may well have pressed Ctrl-C then.
        return verdicts.FAILED if summary.outage(self.pipeline.workspace.run) else Cancelled.exit_code

    def _leave_stamp(self) -> None:
        workspace = self.pipeline.workspace
        if not watch.stampable(self.pipeline):
            return
        root = workspace.layout.root
        # Files of a suite that was not asked for decide the default suites' matrix as little as they decide its results,
        # but a broken one is to be told: every corpus file counts.
        paths = {path.relative_to(root).as_posix() for path in workspace.layout.corpus.glob("*.*")}
        expires = clock.now_utc().timestamp() + 365 * DAY_S
        for step in self.closure:
            paths.update(step.inputs, step.targets, workspace.laid_folders(step))
            facts = workspace.index.known(step.target)
            if facts and facts.measured_at and step.max_age_days is not None:
                expires = min(expires, clock.parse(facts.measured_at).timestamp() + step.max_age_days * DAY_S)
        raw = {path for path in paths if not path.startswith(f"{layout.ARTIFACTS}/")}
        inputs = {path: workspace.index.file_digest(path) for path in raw}
        folders = watch.folders(self.pipeline) | {path.rsplit("/", 1)[0] for path in raw if "/" in path}
        programs = watch.programs(self.closure)
        watched = paths | programs.paths
        data = stamp.leave(root, watched, inputs | dict.fromkeys(folders, ""), self._answers(), expires, programs.variables)
        # Whatever was edited since it was looked at is left to the next full check: looked at after the stamp was taken.
        whole = workspace.index.unmoved(raw) and watch.as_declared(self.pipeline)
        if whole and all(workspace.stands(step) for step in self.closure):
            files.write_atomic(workspace.layout.named_stamp if self.words else workspace.layout.stamp, data, sync=False)

    def _answers(self) -> dict[str, str]:
        """Words → what they would be told. A bare `doit` over one suite is asked for by the suite's name as well."""
        said = summary.unchanged(self.pipeline, self.names)
        asked = [" ".join(self.words), *(self.names if not self.words and len(self.names) == 1 else ())]
        return dict.fromkeys(asked, said)

    @functools.cached_property
    def _touched(self) -> list[str]:
        """The suites that any step of this run belongs to."""
        named = {step.name.partition("/")[0] for step in self.closure}
        return [suite for suite in self.pipeline.suites if suite in named]

    def _workers(self) -> int:
        wanted = [workers for name in self._touched if (workers := self.pipeline.suites[name].workers)]
        return max(wanted) if wanted else max(1, min(DEFAULT_WORKERS, os.cpu_count() or 1))


class StoppableRunner(MThreadRunner):
    """doit's thread runner, which hands out no further step once the run is stopped."""

    stopped: Callable[[], bool]

    def get_next_job(self, completed: Any) -> Any:
        """doit's own attribute for a gentle stop is what a failing step without `--continue` sets."""
        if self.stopped():
            self._stop_running = True
        return super().get_next_job(completed)


@contextlib.contextmanager
def _signals(cancel: Callable[[], None]) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        cancel()
        # The second signal of an impatient user must not break the orderly end.
        for other in handled:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt

    handled = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # `nohup doit` is to outlive its terminal
        handled.append(signal.SIGHUP)
    before = [signal.signal(number, stop) for number in handled]
    try:
        yield
    finally:
        for number, old in zip(handled, before, strict=True):
            signal.signal(number, old)
