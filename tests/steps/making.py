"""Jobs for tests of steps: real store, real context, records sealed by hand."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.core.records import Record
from bench.effects.context import Context, Job
from bench.effects.store.local import LocalStore


def context_at(root: Path) -> Context:
    """A context whose store, scratch and log are below `root`."""
    scratch = root / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    return Context(LocalStore(root / "store"), root, scratch, threading.Event(), lambda line: None)


def job_of(
    kind: str,
    context: Context,
    params: Mapping[str, Any],
    files: Mapping[str, bytes] | None = None,
    inputs: Mapping[str, Record] | None = None,
) -> Job:
    """A job with its raw files already in the store."""
    blobs = {role: context.store.put(data) for role, data in (files or {}).items()}
    return Job(kind, "step", "b3:" + "0" * 64, params, inputs or {}, blobs)
