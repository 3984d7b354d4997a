"""What a step is given, and what it gives back. No doit object, global or host path is needed to describe it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.core import records
from bench.core.records import Blob, Record
from bench.effects.store import Store


@dataclass(frozen=True, slots=True)
class Job:
    """A step to be made, as plain data: what an executor on another machine would be sent."""

    kind: str
    name: str
    key: str
    params: Mapping[str, Any]
    """What the result depends on; part of the key."""
    inputs: Mapping[str, Record]
    """Records of the steps before, by role, such as `template` or `cell/0`."""
    files: Mapping[str, Blob]
    """Raw input files (oracles, skills, cassettes), already in the store, by role."""
    hints: Mapping[str, Any] = field(default_factory=dict)
    """Where to look (paths, addresses), never part of a key."""


@dataclass(frozen=True, slots=True)
class Context:
    """The effects that a step may use."""

    store: Store
    root: Path
    """The workspace; for `dir` sources and nothing else."""
    scratch: Path
    """A private empty directory, deleted afterwards."""
    cancel: threading.Event
    log: Callable[[str], None]
    """One line for the step's own log, never evidence."""
    spent: Callable[[float], None] = lambda dollars: None
    """Tell the run how many dollars were just spent."""
    left: Callable[[], float | None] = lambda: None
    """Dollars that the step's suite may spend yet, as of now; None = no bound."""
    gateway: Callable[[], Any] | None = None
    """The run's `bench.effects.gateway.Gateway`, started by the first call; None where no session can need it. Its type is
    not imported: every step imports this module, and the gateway's code is not to be in a cell's key."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a step made."""

    body: Mapping[str, Any]
    outputs: Mapping[str, Blob] = field(default_factory=dict)
    state: str = records.FINAL
    reason: str | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
