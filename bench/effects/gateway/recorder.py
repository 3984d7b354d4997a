"""Keeps a live session's traffic as a cassette: every conversation that offers tools, subagents' too, events verbatim.

A conversation is known by its first user prompt, as a replay will know it. Two that begin alike can be told apart here, by
the calls that each request repeats, but not by a replay: their session is not recorded. Requests without tools (titles,
probes) are the client's own affairs and are left out, since a replay answers them by itself. Only the Messages API is
recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bench.effects import cassettes
from bench.effects.cassette_record import Recorded, Recording
from bench.effects.cassette_requests import from_anthropic
from bench.effects.redact import Redactor


class Tape:
    """One session's recording."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._found: dict[str, tuple[str, list[_Turn]]] = {}
        self._guard = threading.Lock()

    def add(self, body: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> None:
        """One answered request of the Messages API and the events of its answer (or the one whole message)."""
        if not body.get("tools") or not events or not _complete(events):
            return
        request = from_anthropic(self._recorded.model, body.get("messages") or [])
        kept = self._recorded.turn(request, [dict(event) for event in events])
        made = _Turn(request.calls, cassettes.call_ids("anthropic", events), kept)
        with self._guard:
            self._found.setdefault(cassettes.prompt_digest(request.prompt), (request.prompt, []))[1].append(made)

    def cassette(self, redactor: Redactor) -> Recording:
        """The recording so far; empty when nothing was answered. A conversation is kept up to its first missing turn."""
        with self._guard:
            found = [(prompt, list(turns)) for prompt, turns in self._found.values()]
        for prompt, turns in found:
            if _several(turns):
                shown = redactor.text(" ".join(prompt.split()))[:60]
                why = f"several conversations begin with {shown!r}, which no replay could tell apart"
                return Recording(None, f"no recording is kept: {why}")
        whole = [(prompt, kept) for prompt, turns in found if (kept := _from_the_first(turns))]
        return self._recorded.cassette("anthropic", whole, redactor) if whole else Recording(None)


class _Turn(NamedTuple):
    """An answered request: the ids of calls by the turns before it, those of its own answer, and how a cassette holds it."""

    before: tuple[tuple[str, ...], ...]
    calls: tuple[str, ...]
    kept: dict[str, Any]


def _several(turns: Sequence[_Turn]) -> bool:
    """Whether turns of one prompt are of more than one conversation. A request that was asked again is of the same one."""
    longest = max(turns, key=lambda turn: len(turn.before)).before
    return any(turn.before != longest[: len(turn.before)] for turn in turns)


def _from_the_first(turns: Sequence[_Turn]) -> list[dict[str, Any]]:
    """Of the answers to a request that was asked again, the one that was gone on with, else the last."""
    longest = max(turns, key=lambda turn: len(turn.before)).before
    made: list[dict[str, Any]] = []
    while found := [turn for turn in turns if len(turn.before) == len(made)]:
        followed = [turn for turn in found if (turn.calls,) == longest[len(made) : len(made) + 1]]
        made.append((followed or found)[-1].kept)
    return made


def _complete(events: Sequence[Mapping[str, Any]]) -> bool:
    return events[-1].get("type") in ("message", "message_stop")
