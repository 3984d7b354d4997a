"""Executors run a job and give back what it made. `local` runs it in this process; others would send it away."""

from __future__ import annotations

import importlib
from typing import Protocol

from bench.effects.context import Context, Job, Made

EXECUTORS = {"local": "bench.effects.executors.local:LocalExecutor"}
"""Short name → dotted path, imported when used."""


class Executor(Protocol):
    """A job is plain data and needs nothing but the store."""

    def execute(self, step: str, job: Job, context: Context) -> Made:
        """Run the step's code, named by its dotted path, on a job."""
        ...


def create(name: str = "local") -> Executor:
    """The executor of that name."""
    module, cls = EXECUTORS[name].split(":")
    executor: Executor = getattr(importlib.import_module(module), cls)()
    return executor
