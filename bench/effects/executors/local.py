"""The executor that runs a step's code here and now."""

from __future__ import annotations

import importlib

from bench.effects.context import Context, Job, Made


class LocalExecutor:
    """Imports the step's module when it is used, so that an up-to-date run imports none."""

    def execute(self, step: str, job: Job, context: Context) -> Made:
        """`step` is a module path; its `make(job, context)` does the work."""
        made: Made = importlib.import_module(step).make(job, context)
        return made
