"""The journal: an append-only log, one JSON object a line, of what was built, restored, revoked and paid.

It counts the attempts at a paid step, and holds the seal of every record that was written: a forged record or entry shows.
What only this workspace knows (that a cell was graded before, and how) stands here and in no record.
A torn line (crash) is skipped; nothing ever rewrites the file.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.core import digest
from bench.effects import clock, files


@dataclass(slots=True)
class _Known:
    """What all events so far amount to."""

    keys: dict[str, tuple[dict[str, str], int]] = field(default_factory=dict)
    """Key → the seals that were built or restored under it, each with its step's name ("" where another step's was taken),
    and how often it was built; both since the last revocation."""
    regraded: dict[str, Mapping[str, Any] | None] = field(default_factory=dict)
    """Key of a cell → what was noted when it was first built."""
    laid: set[str] = field(default_factory=set)


class Journal:
    """Events: built (`charged: false` = not counted as an attempt; `regraded`: figures of a cell, old and new), kept (an
    attempt set aside), revoked, restored, collected, laid (digests of a report's files that say more than its record)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._state: _Known | None = None

    def write(self, event: str, **facts: Any) -> None:
        """Append one event with the present time."""
        line = digest.canonical({"event": event, "at": clock.stamp(), **facts})
        with self._lock:
            files.append_line(self.path, line)
            if self._state is not None:
                self._fold(self._state, {"event": event, **facts})

    def events(self) -> Iterator[dict[str, Any]]:
        """All whole events, oldest first."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield event

    def seals(self, key: str) -> Mapping[str, str]:
        """Seals of the records that were written under this key since it was last revoked, with the names of their steps.

        "" stands for the name of a step whose record another one took over.
        """
        return self._known().keys.get(key, ({}, 0))[0]

    def attempts(self, key: str) -> int:
        """How often a step was made under this key since it was last revoked."""
        return self._known().keys.get(key, ({}, 0))[1]

    def regraded(self, key: str) -> Mapping[str, Any] | None:
        """What was noted of the time before when the cell of this key was first built here. It never changes."""
        return self._known().regraded.get(key)

    def laid(self, file: str) -> bool:
        """Whether a file of this digest was laid out with what only this workspace knows."""
        return file in self._known().laid

    def tries(self, key: str, since: str) -> int:
        """How often a step was made under this key from the stamp `since` on, whatever was revoked in between.

        Reads the whole file: for what takes minutes itself.
        """
        built = (e for e in self.events() if e.get("event") == "built" and e.get("key") == key)
        return sum(event.get("charged") is not False and str(event.get("at")) >= since for event in built)

    def _known(self) -> _Known:
        with self._lock:
            if self._state is None:
                state = _Known()
                for event in self.events():
                    self._fold(state, event)
                self._state = state
            return self._state

    @staticmethod
    def _fold(state: _Known, event: dict[str, Any]) -> None:
        key, what = event.get("key"), event.get("event")
        if what == "laid":
            state.laid |= set(map(str, event.get("files") or ()))
        if not isinstance(key, str):
            return
        if what in ("built", "restored"):
            seals, attempts = state.keys.get(key, ({}, 0))
            charged = what == "built" and event.get("charged") is not False
            taken = {str(event["of"]): ""} if "of" in event else {}
            state.keys[key] = (taken | seals | {str(event.get("seal")): str(event.get("name") or "")}, attempts + charged)
            if what == "built" and event.get("kind") == "cell":
                noted = event.get("regraded")
                state.regraded.setdefault(key, noted if isinstance(noted, dict) else None)
        elif what == "revoked":
            state.keys[key] = ({}, 0)
