"""Makes a cassette of a live session: normalised requests, the upstream's own bodies, secrets stripped.

Every live session is recorded as a cassette of one conversation, kept with its evidence; `merge` makes one file of many.
Where an upstream speaks neither format, its answer is kept as the chat completion that LiteLLM made of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.effects import cassettes
from bench.effects.cassette_requests import from_openai
from bench.effects.redact import Redactor
from bench.errors import CorpusError


class Recorder:
    """Follows one conversation of a live model. `model` is its LiteLLM id, `skills` name → text of those offered."""

    def __init__(self, model: str, effort: str | None, skills: Mapping[str, str], run: int) -> None:
        self._model = model
        self._effort = effort
        self._skills = dict(skills)
        self._run = run
        self._prompt = ""
        self._turns: list[dict[str, Any]] = []
        self._formats: set[str] = set()

    def add(self, messages: Sequence[Mapping[str, Any]], raw: Mapping[str, Any] | None, completion: dict[str, Any]) -> None:
        """One answered request: the messages sent, the upstream's body, and LiteLLM's completion as the fallback."""
        request = from_openai(self._model, messages)
        self._prompt = request.prompt
        known: dict[str, Any] = {"model": self._model, "results": []}
        if request.turn:
            results = request.results[-1]
            known["results"] = [{"id": r.id, "error": r.error} for r in results]
            if results:
                known["seen"] = cassettes.seen_digest([r.text for r in results])
        body = dict(raw) if raw is not None else completion
        if body.get("type") == "message":
            self._formats.add("anthropic")
        else:
            body = body if body.get("object") == "chat.completion" else completion
            self._formats.add("openai")
        self._turns.append({"request": known, "response": [body]})

    def cassette(self, redactor: Redactor) -> bytes | None:
        """The recording so far; None when nothing was answered, or in two formats."""
        if not self._turns or len(self._formats) != 1:
            return None
        conversation = {
            "prompt": cassettes.prompt_digest(self._prompt),
            "preview": redactor.text(" ".join(cassettes.normalised(self._prompt).split()))[:120],
            "skills": sorted(self._skills),
            "offer": cassettes.offer_digest(self._skills),
            "take": self._run,
            "turns": redactor.value(self._turns),
        }
        return _written(self._model, self._effort, next(iter(self._formats)), [conversation])


def merge(recordings: Sequence[bytes]) -> bytes:
    """One cassette of many recordings, in their order, equal conversations once. Raises CorpusError when they differ in
    model, effort or format."""
    parsed = [cassettes.parse(data, f"recording {n}") for n, data in enumerate(recordings)]
    heads = {(c.model, c.effort, c.format) for c in parsed}
    if len(heads) != 1:
        told = ", ".join(sorted(f"{m} ({f}, effort {e})" for m, e, f in heads)) or "none"
        raise CorpusError(f"recordings of one model are needed, not of {told}", remedy="record one model at a time")
    model, effort, form = heads.pop()
    conversations = {json.dumps(c, sort_keys=True): dict(c) for cassette in parsed for c in cassette.conversations}
    return _written(model, effort, form, list(conversations.values()))


def _written(model: str, effort: str | None, form: str, conversations: list[dict[str, Any]]) -> bytes:
    made = {"schema": cassettes.SCHEMA, "model": model, "effort": effort, "format": form, "conversations": conversations}
    # Not canonical JSON: a model may have said a lone surrogate, which only an escape can hold.
    text = json.dumps(made, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"
