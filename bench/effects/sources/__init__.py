"""Sources: where a template's files come from. Registry by kind; each gives entries, never a path to trust."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bench.effects.trees import Entry

SOURCES = {
    "dir": "bench.effects.sources.directory:Directory",
    "git": "bench.effects.sources.gitrepo:GitRepository",
    "sdist": "bench.effects.sources.sdist:Sdist",
}
"""Short name → dotted path, imported when used."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Files of a source at one revision. `revision` is the resolved commit, the sdist's sha256, or the tree's digest."""

    entries: list[Entry]
    revision: str


class Source(Protocol):
    """`spec` is the task's `source:` mapping after the lock: {dir} · {git, commit} · {sdist: NAME==VERSION, sha256}."""

    def fetch(self, spec: Mapping[str, Any], root: Path, scratch: Path, cancel: threading.Event) -> Fetched:
        """Materialise. Raises SourceError or CorpusError naming the offending path."""
        ...

    def resolve(self, spec: Mapping[str, Any], root: Path) -> dict[str, Any]:
        """What `doit relock` writes down for this source: {commit} or {sha256}, or {} when there is nothing to pin."""
        ...


def create(kind: str) -> Source:
    """The source of that kind."""
    module, cls = SOURCES[kind].split(":")
    source: Source = getattr(importlib.import_module(module), cls)()
    return source
