"""A step as dodo.py declares it: what doit needs to order it, and what we need to key and make it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import bench.layout as layout
from bench.core.records import Blob, Record
from bench.make.admission import Terms

MEASURED = frozenset({"session", "canary"})
MAKERS = {"canary": "session"}
"""Kinds that another step's code makes: a canary is a session."""
REPORT_FILES = ("report.md", "index.html", "results.jsonl")


@dataclass(slots=True)
class Step:
    """One step. `needs` and `files` map a role to a path relative to the workspace."""

    kind: str
    name: str
    params: Mapping[str, Any]
    needs: Mapping[str, str] = field(default_factory=dict)
    """Role → path of an input record."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Role → path of a raw input file."""
    gates: Mapping[str, str] = field(default_factory=dict)
    """Role → path of a record that must be final before this step is made: never a part of its key."""
    hints: Mapping[str, Any] = field(default_factory=dict)
    paid: bool = False
    retries: int = 0
    max_age_days: int | None = None
    after: tuple[str, ...] = ()
    """Paths of records that are made before it, whatever becomes of them."""
    terms: Terms | None = None
    """Of an agent's session: what its suite says about starting it now."""
    sign: str = ""
    """Memo of the signature; see `bench.make.workspace`."""

    @property
    def target(self) -> str:
        """Path of the record that it makes."""
        return layout.record(self.kind, self.name)

    @property
    def targets(self) -> list[str]:
        """The record first, then what is always laid out from it for people to read."""
        return [self.target, *map(self._place, self._files)]

    @property
    def _files(self) -> tuple[str, ...]:
        return REPORT_FILES if self.kind == "report" else (self.hints["file"],) if self.kind == "promotion" else ()

    def _place(self, file: str) -> str:
        """Of a file of this step in its suite's report."""
        return f"{layout.ARTIFACTS}/{layout.FOLDERS['report']}/{self.name.partition('/')[0]}/{file}"

    def laid(self, record: Record) -> dict[str, Blob]:
        """Path → bytes of all that is laid out from a record: of a report its pages too, of most kinds nothing."""
        if self.kind == "report":
            return {self._place(name): blob for name, blob in record.outputs.items()}
        return {self._place(file): record.outputs[self.kind] for file in self._files if self.kind in record.outputs}

    @property
    def inputs(self) -> list[str]:
        """Paths of all that it is made from."""
        return [*self.needs.values(), *self.files.values()]

    @property
    def id(self) -> str:
        """doit's name for it."""
        return f"{self.kind}:{self.name}"

    @property
    def measures(self) -> bool:
        """Whether an agent works in it, paid or not: it is measured, everything else is built."""
        return self.kind in MEASURED

    @property
    def module(self) -> str:
        """Dotted path of the code that makes it."""
        return f"bench.steps.{MAKERS.get(self.kind, self.kind)}"
