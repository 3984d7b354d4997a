"""`doit [run] [STEP…]`: bring evidence up to date."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from doit.cmd_base import DoitCmdBase

from bench.errors import ApplyFailed
from bench.make.commands.base import StepCommand, option


class Run(StepCommand):
    """doit's `run` with our exit codes, thread workers, signals and lock; what has no place here has no option."""

    name = "run"
    doc_purpose = "bring evidence up to date"
    doc_usage = "[STEP or PATTERN...] [name=value...]"
    doc_description = None
    execute_tasks = True
    cmd_options = (
        option("process", int, None, "workers [default: the suite's `workers`, else min(3, cores)]", "n"),
        option("wait", bool, False, "wait for another doit to end instead of refusing"),
    )
    _hold: Callable[[], object]

    def execute(self, params: Any, args: list[str]) -> int:
        """Load, check the command line, lock, look; run what does not stand; tell."""
        self.loader.setup(params)
        from bench.make import conduct, glance

        pipeline = self.pipeline
        applies = [word for word in args if word.partition(":")[0] == "apply"]
        conduct.check_workers(params["process"])
        with contextlib.ExitStack() as stack:
            self._hold = partial(stack.enter_context, conduct.writing(pipeline.workspace, wait=params["wait"]))
            if not applies:
                _check_whole(pipeline.root)
            declared = None if applies else glance.declared(self.loader.namespace)
            words = args or self.loader.namespace["DOIT_CONFIG"]["default_tasks"]
            found = glance.chosen(pipeline.workspace, declared, words) if declared else None
            if found is not None:
                self._hold()
                if glance.stand(pipeline.workspace, found.steps):
                    return conduct.Conductor(pipeline, args, found.names, found.steps).stand()
            pipeline.workspace.undeclare()
            return int(DoitCmdBase.execute(self, params, args))

    def _execute(self, process: int | None) -> int:
        from bench.make import conduct

        workspace = self.pipeline.workspace
        names = self.selected(self.sel_tasks or [])
        closure = self.closure(names)
        if not workspace.index.writable:
            self._hold()
        if any(name.partition(":")[0] == "apply" for name in names):
            return self._apply(names)
        words = [] if self.sel_default_tasks else list(self.sel_tasks or [])
        conductor = conduct.Conductor(self.pipeline, words, names, closure)
        return conductor.run(self.task_list, self.dep_manager, process)

    def _apply(self, names: list[str]) -> int:
        from bench.make import applying

        return max(
            applying.run(self.pipeline, name, self.closure([applying.promotion_of(name)])) for name in applying.named(names)
        )


def _check_whole(root: Path) -> None:
    """Nothing is measured on a tree that an interrupted apply may have left half new. Raises ApplyFailed."""
    import bench.layout as layout

    if os.path.lexists(root / layout.RECOVERY):
        what, remedy = (
            "an apply was interrupted, and the tree may be half new",
            "run that `doit apply:…` again: it undoes it",
        )
        raise ApplyFailed(what, where=layout.RECOVERY, remedy=remedy)
