"""`doit relock SUITE…`: the only thing that resolves refs and dependencies; writes corpus/<suite>.lock.json."""

from __future__ import annotations

from typing import Any

from bench.core import lock as locks
from bench.effects import console, files, interpreter, resolve, sources
from bench.errors import UsageError
from bench.make.commands.base import StepCommand, option


class Relock(StepCommand):
    """Pins each source's commit or sha256 and each dependency set's wheels, from what the registries say now."""

    name = "relock"
    doc_purpose = "resolve a suite's refs and dependencies into its lock file"
    doc_usage = "SUITE..."
    doc_description = None
    cmd_options = (option("check", bool, False, "only say whether the lock file is up to date"),)

    def execute(self, params: Any, args: list[str]) -> int:
        """Resolve. The steps are not declared first: they would miss what is not locked yet."""
        self.loader.setup(params)
        return self._relock(args, bool(params["check"]))

    def _relock(self, pos_args: list[str], check: bool) -> int:
        pipeline = self.pipeline
        if not pos_args:
            raise UsageError("relock which suite?", remedy=f"one of {', '.join(pipeline.suites)}")
        stale = False
        for name in pos_args:
            if name not in pipeline.suites:
                raise UsageError(f"no suite {name!r}", remedy=f"there are {', '.join(pipeline.suites)}")
            data = self._resolved(name)
            path = pipeline.workspace.layout.suite_lock(name)
            same = path.is_file() and path.read_bytes() == data
            console.say(f"{path.name}: {'unchanged' if same else 'out of date' if check else 'written'}")
            stale = stale or not same
            if not same and not check:
                files.write_atomic(path, data, mode=0o644)
        return 1 if check and stale else 0

    def _resolved(self, name: str) -> bytes:
        suite = self.pipeline.suites[name]
        store = self.pipeline.workspace.store
        pinned: dict[str, dict[str, str]] = {}
        wanted: dict[str, list[dict[str, str]]] = {}
        for task in suite.tasks:
            kind = next(k for k in ("dir", "git", "sdist") if k in task.source)
            found = sources.create(kind).resolve(task.source, self.pipeline.workspace.layout.root)
            if found and locks.needs_entry(task.source):
                pinned[locks.source_id(task.source)] = found
            if task.dependencies:
                key = locks.requirements_id(task.dependencies)
                if key not in wanted:
                    wanted[key] = resolve.resolve(task.dependencies, interpreter.minor(), store)
        return locks.dump(locks.Lock(name, pinned, {key: tuple(entries) for key, entries in wanted.items()}))
