"""Indexers make a program-dependence-graph snapshot of a template, in the sandbox, normalised. Registry by short name."""

from __future__ import annotations

import importlib
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bench.effects.programs import Watched

INDEXERS = {
    "codeanalyzer": "bench.effects.indexers.codeanalyzer:CodeAnalyzer",
    "gitnexus": "bench.effects.indexers.gitnexus:GitNexus",
}
"""Short name → dotted path, imported when used. `none` is not an indexer: no graph step is declared then."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`graph` is the normalised graph, whose form `bench.core.pdg` reads; empty, with a reason, when nothing is to index.

    {"schema": 1, "language": str, "nodes": [{"id", "kind", "name", "path", "line", "end_line"}],
     "edges": [{"from", "to", "kind", "label"?}], "unparsed"?: [path]}, lists sorted, no clock, no absolute path.
    Node kinds: module, class, function, statement, parameter, variable. Edge kinds: contains, calls, control, data.
    """

    graph: dict[str, Any]
    reason: str | None = None


def edge_of(source: str, target: str, kind: str, label: str) -> dict[str, str]:
    """An edge of a normalised graph; an empty label is none."""
    edge = {"from": source, "to": target, "kind": kind}
    return edge | {"label": label} if label else edge


class Indexer(Protocol):
    """One method; `identity` names the indexer's locked environment and is part of the graph's key."""

    def identity(self) -> dict[str, str]:
        """Package → version of whatever decides the result. Raises MissingPart when it is not installed."""
        ...

    def watched(self) -> Watched:
        """What the identity was read from, beside the packages of this Python: as long as none of it changes, neither does
        the identity. Raises nothing."""
        ...

    def index(self, tree: Path, scratch: Path, *, seconds: float, cancel: threading.Event) -> Snapshot:
        """Index an expanded template. Raises StepFailed on time-out or a crash of the indexer."""
        ...


def create(name: str) -> Indexer:
    """The indexer of that name."""
    module, cls = INDEXERS[name].split(":")
    indexer: Indexer = getattr(importlib.import_module(module), cls)()
    return indexer
