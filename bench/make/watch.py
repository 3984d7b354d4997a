"""What a stamp has to watch beside the files that steps name: folders in which a new file would be a new input, programs.

The folders of a source or skill are listed and programs are looked for when steps are declared, and may have changed by the
end of the run. A stamp may only stand for what the steps were declared from, so all is asked once more; nothing else is
decided here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import bench.layout as layout
from bench.effects import engines, indexers, listing
from bench.effects.programs import Watched
from bench.effects.sources import directory
from bench.errors import BenchError
from bench.make import rows
from bench.make.pipeline import Pipeline
from bench.make.step import Step

HOME = "HOME"
"""The variable that `~` in a path stands for."""


def folders(pipeline: Pipeline) -> set[str]:
    """Every folder of the corpus and of each directory source, empty ones too."""
    found = {path for root in _roots(pipeline) for path in _below(root)}
    return {str(path.relative_to(pipeline.root)) if path.is_relative_to(pipeline.root) else str(path) for path in found}


def as_declared(pipeline: Pipeline) -> bool:
    """Whether sources and skills still hold the files, and programs are those, with which their steps were declared."""
    none: dict[str, str] = {}
    try:
        listed = [("template", name, params, files) for name, params, files, _ in rows.sources(pipeline)]
        listed += [("skill", name, params, files) for name, params, files in rows.skills(pipeline)]
        listed += [("runtime", name, params, none) for name, params in rows.runtimes(pipeline)]
        listed += [("graph", name, params, none) for name, _, params in rows.graphs(pipeline)]
    except (BenchError, OSError):
        return False
    steps = pipeline.workspace.steps
    for kind, name, params, files in listed:
        step = steps[layout.record(kind, name)]
        if step.params != params or step.files != files:
            return False
    return True


def stampable(pipeline: Pipeline) -> bool:
    """Whether files and folders say all. A tree of `sandbox_dependencies` is read whole each time instead."""
    return not any(task.sandbox_dependencies for _, task in pipeline.tasks())


def programs(steps: Iterable[Step]) -> Watched:
    """What decides which programs the steps rest on."""
    found = Watched(variables=frozenset({HOME}))
    for step in steps:
        if step.kind == "runtime":
            found |= engines.create(step.params["engine"]).watched()
        elif step.kind == "graph":
            found |= indexers.create(step.params["indexer"]).watched()
    return found


def _roots(pipeline: Pipeline) -> Iterator[Path]:
    yield pipeline.workspace.layout.corpus
    for _, task in pipeline.tasks():
        if "dir" in task.source:
            yield directory.home(task.source, pipeline.root)


def _below(root: Path) -> Iterator[Path]:
    for folder, names, _ in os.walk(root):
        names[:] = [name for name in names if name not in listing.SKIPPED]
        yield Path(folder)
