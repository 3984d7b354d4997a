"""`doit verify` for promotions: each document holds, and follows from the records that it was made from.

Where those records have changed since, the next `doit` decides anew; then only the document itself can be checked.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import bench.layout as layout
from bench.core import promotion_check
from bench.core.records import Record
from bench.effects.context import Context, Job
from bench.errors import BenchError
from bench.make.workspace import Workspace
from bench.steps import promotion

PATTERN = "*/promotion*.json"


def faults(workspace: Workspace, record: Record) -> Iterator[str]:
    """What is wrong with a promotion's record."""
    where = f"{record.kind}:{record.name}"
    blob = record.outputs.get("promotion")
    if blob is None:
        yield f"{where}: has no promotion.json"
        return
    try:
        data = workspace.store.get(blob.blob)
        document = json.loads(data)
    except (BenchError, ValueError, RecursionError) as error:
        yield f"{where}: its promotion.json cannot be read: {error}"
        return
    for fault in promotion_check.faults(document):
        yield f"{where}: {fault}"
    again = _again(workspace, record)
    if again is not None and again != data:
        yield f"{where}: its promotion.json is not what its records give; run doit to decide again"


def _again(workspace: Workspace, record: Record) -> bytes | None:
    """The document made again, or None where an input is not the one that it was made from."""
    step = workspace.steps.get(layout.record(record.kind, record.name))
    if step is None or dict(step.params) != dict(record.params):
        return None
    inputs = {role: found for role, path in step.needs.items() if (found := workspace.read(path)) is not None}
    if {role: found.content for role, found in inputs.items()} != dict(record.inputs):
        return None
    job = Job(record.kind, record.name, record.key, record.params, inputs, {})
    with tempfile.TemporaryDirectory() as folder:
        context = Context(workspace.store, workspace.layout.root, Path(folder), threading.Event(), lambda line: None)
        return promotion.to_bytes(promotion.document(job, context))


def foreign(workspace: Workspace) -> Iterator[tuple[str, list[str], int | None]]:
    """(path, faults, schema version) of promotion files in reports that no step of this workspace made."""
    for path in sorted((workspace.layout.artifacts / layout.FOLDERS["report"]).glob(PATTERN)):
        relative = path.relative_to(workspace.layout.root).as_posix()
        if relative in workspace.makers:
            continue
        try:
            document = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            yield relative, [f"cannot be read: {error.__class__.__name__}"], None
            continue
        yield relative, promotion_check.faults(document), promotion_check.version(document)
