"""doit's reporter, silent where our own progress speaks; failures that doit itself raises are kept for the summary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.make.progress import Progress


class StepReporter:
    """doit's reporter protocol (0.37)."""

    desc = "one line per step that was made"

    def __init__(self, outstream: Any, options: dict[str, Any]) -> None:
        self.progress: Progress = options["progress"]
        self.progress.begin(options["total"])
        self.stopped: Callable[[], bool] = options["stopped"]
        self.failures: list[str] = []

    def initialize(self, tasks: Any, selected: Any) -> None:
        """Tasks are loaded."""

    def get_status(self, task: Any) -> None:
        """A task is looked at."""

    def execute_task(self, task: Any) -> None:
        """Called in a worker thread; the action itself reports."""

    def add_success(self, task: Any) -> None:
        """The action has reported."""

    def skip_uptodate(self, task: Any) -> None:
        """A step stands."""
        if task.actions:
            self.progress.passed()

    def skip_ignore(self, task: Any) -> None:
        """Not used: `doit ignore` has no place here."""

    def add_failure(self, task: Any, fail: Any) -> None:
        """An action of ours fails only when the run is stopped; anything else is a fault of doit or of the pipeline."""
        if self.stopped():
            return
        self.failures.append(f"{task.name}: {' '.join(fail.get_msg().split())[:300]}")

    def cleanup_error(self, exception: Any) -> None:
        """No teardown is used."""

    def runtime_error(self, msg: str) -> None:
        """An error outside of tasks."""
        self.failures.append(msg)

    def teardown_task(self, task: Any) -> None:
        """No teardown is used."""

    def complete_run(self) -> None:
        """The summary follows."""
