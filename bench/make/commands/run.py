"""`doit [run] [STEP…]`: bring evidence up to date."""

from __future__ import annotations

from typing import Any

from doit.cmd_base import DoitCmdBase

from bench.make.commands.base import StepCommand, option


class Run(StepCommand):
    """doit's `run` with our exit codes, thread workers, signals and lock; what has no place here has no option."""

    name = "run"
    doc_purpose = "bring evidence up to date"
    doc_usage = "[STEP or PATTERN...] [name=value...]"
    doc_description = None
    execute_tasks = True
    cmd_options = (
        option("process", int, 0, "workers [default: the suite's `workers`, else min(3, cores)]", "n"),
        option("wait", bool, False, "wait for another doit to end instead of refusing"),
    )

    def execute(self, params: Any, args: list[str]) -> int:
        """Load, lock, run, tell."""
        self.loader.setup(params)
        from bench.make import conduct

        with conduct.writing(self.pipeline.workspace, wait=params["wait"]):
            return int(DoitCmdBase.execute(self, params, args))

    def _execute(self, process: int) -> int:
        from bench.make import conduct

        names = self.selected(self.sel_tasks or [])
        closure = self.closure(names)
        bare = self.sel_default_tasks
        return conduct.Conductor(self.pipeline, self.task_list, names, closure).run(self.dep_manager, process, bare=bare)
