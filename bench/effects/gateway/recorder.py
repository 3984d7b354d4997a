"""Keeps a live session's traffic as a cassette: every conversation that offers tools, subagents' too, events verbatim.

A conversation is known by its first user prompt. Requests without tools (titles, probes) are the client's own affairs and
are left out, since a replay answers them by itself. Only the Messages API is recorded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from bench.effects import cassettes
from bench.effects.cassette_requests import from_anthropic
from bench.effects.redact import Redactor


class Tape:
    """One session's recording. `model` is its LiteLLM id, `skills` name → text of those offered."""

    def __init__(self, model: str, effort: str | None, skills: Mapping[str, str], run: int) -> None:
        self._model, self._effort, self._skills, self._run = model, effort, dict(skills), run
        self._found: dict[str, tuple[str, dict[int, dict[str, Any]]]] = {}
        self._guard = threading.Lock()

    def add(self, body: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> None:
        """One answered request of the Messages API and the events of its answer (or the one whole message)."""
        if not body.get("tools") or not events or not _complete(events):
            return
        request = from_anthropic(self._model, body.get("messages") or [])
        known: dict[str, Any] = {"model": self._model, "results": []}
        if request.turn:
            results = request.results[-1]
            known["results"] = [{"id": r.id, "error": r.error} for r in results]
            if results:
                known["seen"] = cassettes.seen_digest([r.text for r in results])
        with self._guard:
            _prompt, turns = self._found.setdefault(cassettes.prompt_digest(request.prompt), (request.prompt, {}))
            turns[request.turn] = {"request": known, "response": [dict(event) for event in events]}

    def cassette(self, redactor: Redactor) -> bytes | None:
        """The recording so far; None when nothing was answered. A conversation is kept up to its first missing turn."""
        made = []
        with self._guard:
            for digest, (prompt, turns) in self._found.items():
                whole = [turns[n] for n in range(len(turns)) if all(k in turns for k in range(n + 1))]
                if whole:
                    made.append(self._conversation(digest, prompt, whole, redactor))
        if not made:
            return None
        top = {"schema": cassettes.SCHEMA, "model": self._model, "effort": self._effort, "format": "anthropic"}
        # Not canonical JSON: a model may have said a lone surrogate, which only an escape can hold.
        text = json.dumps(top | {"conversations": made}, sort_keys=True, allow_nan=False, separators=(",", ":"))
        return text.encode() + b"\n"

    def _conversation(self, digest: str, prompt: str, turns: list[dict[str, Any]], redactor: Redactor) -> dict[str, Any]:
        return {
            "prompt": digest,
            "preview": redactor.text(" ".join(cassettes.normalised(prompt).split()))[:120],
            "skills": sorted(self._skills),
            "offer": cassettes.offer_digest(self._skills),
            "take": self._run,
            "turns": redactor.value(turns),
        }


def _complete(events: Sequence[Mapping[str, Any]]) -> bool:
    return events[-1].get("type") in ("message", "message_stop")
