"""The journal: an append-only log, one JSON object a line, of what was built, restored, revoked and paid.

It counts the attempts at a paid step, and holds the seal of every record that was written: a forged record or entry shows.
A torn line (crash) is skipped; nothing ever rewrites the file.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.core import digest
from bench.effects import clock, files


class Journal:
    """Events: built (`charged: false` = not counted as an attempt), kept (an attempt set aside), revoked, restored,
    collected."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._state: dict[str, tuple[set[str], int]] | None = None
        """Key → the seals that were built or restored under it, how often it was built; both since the last revocation."""

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

    def seals(self, key: str) -> set[str]:
        """Seals of the records that were written under this key since it was last revoked."""
        return self._by_key().get(key, (set(), 0))[0]

    def attempts(self, key: str) -> int:
        """How often a step was made under this key since it was last revoked."""
        return self._by_key().get(key, (set(), 0))[1]

    def tries(self, key: str, since: str) -> int:
        """How often a step was made under this key from the stamp `since` on, whatever was revoked in between.

        Reads the whole file: for what takes minutes itself.
        """
        built = (e for e in self.events() if e.get("event") == "built" and e.get("key") == key)
        return sum(event.get("charged") is not False and str(event.get("at")) >= since for event in built)

    def _by_key(self) -> dict[str, tuple[set[str], int]]:
        with self._lock:
            if self._state is None:
                state: dict[str, tuple[set[str], int]] = {}
                for event in self.events():
                    self._fold(state, event)
                self._state = state
            return self._state

    @staticmethod
    def _fold(state: dict[str, tuple[set[str], int]], event: dict[str, Any]) -> None:
        key, what = event.get("key"), event.get("event")
        if not isinstance(key, str):
            return
        if what in ("built", "restored"):
            seals, attempts = state.get(key, (set(), 0))
            charged = what == "built" and event.get("charged") is not False
            state[key] = (seals | {str(event.get("seal")), str(event.get("of"))}, attempts + charged)
        elif what == "revoked":
            state[key] = (set(), 0)
