"""What a stamp has to watch beside the files that steps name: the folders in which a new file would be a new input.

The folders of a source or skill are listed when steps are declared, and may have changed by the end of the run. A stamp may
only stand for what the steps were declared from, so they are listed once more; nothing else is decided here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import bench.layout as layout
from bench.effects import listing
from bench.effects.sources import directory
from bench.errors import BenchError
from bench.make import rows
from bench.make.pipeline import Pipeline


def folders(pipeline: Pipeline) -> set[str]:
    """Every folder of the corpus and of each directory source, empty ones too."""
    found = {path for root in _roots(pipeline) for path in _below(root)}
    return {str(path.relative_to(pipeline.root)) if path.is_relative_to(pipeline.root) else str(path) for path in found}


def as_declared(pipeline: Pipeline) -> bool:
    """Whether sources and skills still hold the files with which their steps were declared."""
    try:
        listed = [("template", name, params, files) for name, params, files, _ in rows.sources(pipeline)]
        listed += [("skill", name, params, files) for name, params, files in rows.skills(pipeline)]
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


def _roots(pipeline: Pipeline) -> Iterator[Path]:
    yield pipeline.workspace.layout.corpus
    for _, task in pipeline.tasks():
        if "dir" in task.source:
            yield directory.home(task.source, pipeline.root)


def _below(root: Path) -> Iterator[Path]:
    for folder, names, _ in os.walk(root):
        names[:] = [name for name in names if name not in listing.SKIPPED]
        yield Path(folder)
