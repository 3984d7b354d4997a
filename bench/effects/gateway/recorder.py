"""Keeps a live session's traffic as a cassette: every conversation that offers tools, subagents' too, events verbatim.

A conversation is known by its first user prompt. Requests without tools (titles, probes) are the client's own affairs and
are left out, since a replay answers them by itself. Only the Messages API is recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from bench.effects import cassettes
from bench.effects.cassette_record import Recorded, Recording
from bench.effects.cassette_requests import from_anthropic
from bench.effects.redact import Redactor


class Tape:
    """One session's recording."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._found: dict[str, tuple[str, dict[int, dict[str, Any]]]] = {}
        self._guard = threading.Lock()

    def add(self, body: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> None:
        """One answered request of the Messages API and the events of its answer (or the one whole message)."""
        if not body.get("tools") or not events or not _complete(events):
            return
        request = from_anthropic(self._recorded.model, body.get("messages") or [])
        turn = self._recorded.turn(request, [dict(event) for event in events])
        with self._guard:
            _prompt, turns = self._found.setdefault(cassettes.prompt_digest(request.prompt), (request.prompt, {}))
            turns[request.turn] = turn

    def cassette(self, redactor: Redactor) -> Recording:
        """The recording so far; empty when nothing was answered. A conversation is kept up to its first missing turn."""
        with self._guard:
            found = [(prompt, _from_the_first(turns)) for prompt, turns in self._found.values()]
        whole = [(prompt, turns) for prompt, turns in found if turns]
        return self._recorded.cassette("anthropic", whole, redactor) if whole else Recording(None)


def _from_the_first(turns: Mapping[int, dict[str, Any]]) -> list[dict[str, Any]]:
    count = next(n for n in range(len(turns) + 1) if n not in turns)
    return [turns[n] for n in range(count)]


def _complete(events: Sequence[Mapping[str, Any]]) -> bool:
    return events[-1].get("type") in ("message", "message_stop")
