"""The journal: an append-only log, one JSON object a line, of what was built, restored, revoked and paid.

It is read by `verify`, by the count of attempts at a paid step, and where a store's key entry is missing: a record on disk is
then believed only if its seal was journalled. A torn last line (crash) is skipped; nothing ever rewrites the file.
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
    """Events: built, kept (an attempt set aside), revoked, restored, collected."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._state: dict[str, tuple[set[str], int]] | None = None

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

    def knows(self, key: str, content: str) -> bool:
        """Whether this content was built under this key and not revoked since."""
        return content in self._by_key().get(key, (set(), 0))[0]

    def attempts(self, key: str) -> int:
        """How often a step was made under this key since it was last revoked."""
        return self._by_key().get(key, (set(), 0))[1]

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
        key = event.get("key")
        if not isinstance(key, str):
            return
        contents, attempts = state.get(key, (set(), 0))
        if event["event"] in ("built", "restored"):
            contents = contents | {str(event.get("content"))}
            state[key] = (contents, attempts + (event["event"] == "built"))
        elif event["event"] == "revoked":
            state[key] = (set(), 0)
