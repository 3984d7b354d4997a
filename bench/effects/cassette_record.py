"""Makes a cassette of a live session: normalised requests, the upstream's own bodies, secrets stripped.

Every live session is recorded as a cassette of one conversation, kept with its evidence; `merge` makes one file of many.
Where an upstream speaks neither format, its answer is kept as the chat completion that LiteLLM made of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bench.effects import cassettes
from bench.effects.cassette_requests import from_openai
from bench.effects.redact import Redactor
from bench.errors import CorpusError, IntegrityError


class Recording(NamedTuple):
    """A session's cassette. `data` is None where nothing was answered, and where `fault` says why it cannot be kept."""

    data: bytes | None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """Whose traffic it is. `model` is its LiteLLM id, `skills` name → text of those offered."""

    model: str
    effort: str | None
    skills: Mapping[str, str]
    run: int

    def turn(self, request: cassettes.Request, response: list[dict[str, Any]]) -> dict[str, Any]:
        """One answered request as a cassette holds it."""
        known: dict[str, Any] = {"model": self.model, "results": []}
        results = request.results[-1] if request.turn else ()
        if results:
            known["results"] = [{"id": r.id, "error": r.error} for r in results]
            known["seen"] = cassettes.seen_digest([r.text for r in results])
        return {"request": known, "response": response}

    def cassette(
        self, form: str, conversations: Sequence[tuple[str, list[dict[str, Any]]]], redactor: Redactor
    ) -> Recording:
        """Of conversations, each a first prompt and its turns. What a model said may be such that it cannot be kept (keys
        that become the same by redaction, NaN, nesting without end): that costs the recording, never the session."""
        try:
            made = [self._conversation(prompt, turns, redactor) for prompt, turns in conversations]
            data = _written(self.model, self.effort, form, made)
        except IntegrityError as error:
            return Recording(None, f"no recording is kept: {error.what}")
        except (ValueError, RecursionError) as error:
            return Recording(None, f"no recording is kept: an answer is no JSON that could be ({type(error).__name__})")
        if len(data) > cassettes.MAX_BYTES:
            return Recording(None, f"no recording is kept: it would hold {len(data)} bytes")
        return Recording(data)

    def _conversation(self, prompt: str, turns: list[dict[str, Any]], redactor: Redactor) -> dict[str, Any]:
        return {
            "prompt": cassettes.prompt_digest(prompt),
            "preview": redactor.text(" ".join(cassettes.normalised(prompt).split()))[:120],
            "skills": sorted(self.skills),
            "offer": cassettes.offer_digest(self.skills),
            "take": self.run,
            "turns": redactor.value(turns),
        }


class Recorder:
    """Follows one conversation of a live model."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._prompt = ""
        self._turns: list[dict[str, Any]] = []
        self._formats: set[str] = set()

    def add(self, messages: Sequence[Mapping[str, Any]], raw: Mapping[str, Any] | None, completion: dict[str, Any]) -> None:
        """One answered request: the messages sent, the upstream's body, and LiteLLM's completion as the fallback."""
        request = from_openai(self._recorded.model, messages)
        self._prompt = request.prompt
        body = dict(raw) if raw is not None else completion
        if body.get("type") == "message":
            self._formats.add("anthropic")
        else:
            body = body if body.get("object") == "chat.completion" else completion
            self._formats.add("openai")
        self._turns.append(self._recorded.turn(request, [body]))

    def cassette(self, redactor: Redactor) -> Recording:
        """The recording so far; empty when nothing was answered, or in two formats."""
        if not self._turns or len(self._formats) != 1:
            return Recording(None)
        return self._recorded.cassette(next(iter(self._formats)), [(self._prompt, self._turns)], redactor)


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
