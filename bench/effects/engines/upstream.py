"""A session's model: live or replayed, asked with bounded retries, every attempt counted, usage and dollars added up.

It ends the session by raising `End`; it never answers for the model and never hides a failed attempt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import model_routes, outages
from bench.core.records import TOKENS
from bench.effects import cassette_record, cassettes, clock, llm, llm_messages, model_keys, redact
from bench.effects.engines import UNKNOWN_COST, Room, Work
from bench.effects.engines.transcript import preview
from bench.effects.engines.warmup import ready
from bench.errors import CorpusError, MissingPart

LONGEST_WAIT_S = 60.0
SAMPLING = ("temperature", "top_p", "seed", "max_tokens")
"""Settings that are passed on to the model, in LiteLLM's names."""


class End(Exception):
    """The session ends. `kind` is an error kind or None for the model's own end; `cls` the finer class behind it."""

    def __init__(self, kind: str | None, cls: str | None, detail: str = "") -> None:
        super().__init__(kind, cls, detail)
        self.kind, self.cls, self.detail = kind, cls, detail


class Upstream:
    """Open with the session, close after it."""

    def __init__(self, work: Work, room: Room, tools: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> None:
        """Raises CorpusError for a damaged or absent cassette, MissingPart where there is no key, before anything is spent.

        settings: provider (`core.model_routes`; auto is LiteLLM's own rule), base_url, retries (beyond the first attempt),
        backoff_s (seconds before the first retry, then doubled), and those of SAMPLING, None where the model's default is
        meant.
        """
        if work.model is None:
            raise CorpusError("the loop engine needs a model", remedy="set `model:`")
        ready(room.cancel)
        self.model = work.model
        self.replayed = work.model.startswith(f"{llm.REPLAY}/")
        self.usage: dict[str, int] | None = dict.fromkeys(TOKENS, 0)
        self.dollars = 0.0
        self.exact = True
        """Whether `dollars` is all that was spent."""
        self.outage: dict[str, Any] | None = None
        """{cls, status?, resets_at?} where the model's service is what ended the session."""
        self.calls: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.effort_sent: Mapping[str, Any] | None = None
        self._work, self._room, self._tools, self._settings = work, room, list(tools), settings
        self._wanted: dict[str, Any] = {}
        self._skills = {skill.name: skill.text for skill in work.skills}
        self._player: cassettes.Player | None = None
        self._tape: cassette_record.Recorder | None = None
        self._key = self._open_replay(work) if self.replayed else self._open_live(work)
        self.redactor = redact.Redactor([*redact.known_secrets(), self._key or ""], room.hide)

    def _open_replay(self, work: Work) -> str:
        name = work.cassette_name or self.model
        self._player = cassettes.Player.of(work.cassette, name, skills=self._skills, run=work.run, effort=work.effort)
        return llm.open_player(self._player)

    def _open_live(self, work: Work) -> str | None:
        wanted = self._settings.get("provider", "auto")
        if wanted != "auto":
            self.model = model_routes.route(self.model, wanted)
        provider = llm.provider_of(self.model)
        key = model_keys.key_of(provider)
        if key is None and provider in model_routes.KEYS:
            remedy = f"set {model_routes.key_names(provider)[0]}"
            raise MissingPart(f"no key for {provider}", where=self.model, remedy=remedy)
        self._tape = cassette_record.Recorder(cassette_record.Recorded(self.model, work.effort, self._skills, work.run))
        return key

    def close(self) -> None:
        """Ends the replay; safe to call twice."""
        if self._player is not None and self._key is not None:
            llm.close_player(self._key)

    def recording(self) -> bytes | None:
        """A live session's cassette; where it cannot be kept, a note says why."""
        made = self._tape.cassette(self.redactor) if self._tape else cassette_record.Recording(None)
        if made.fault is not None:
            self.notes.append(made.fault)
        return made.data

    def check_parameters(self) -> None:
        """Decide what is sent, before anything is. Ends the session when the effort would be dropped; notes what else would
        be, and what the library sends in another form."""
        asked = {name: self._settings[name] for name in SAMPLING if self._settings[name] is not None}
        if self._work.effort is not None:
            asked["reasoning_effort"] = self._work.effort
        for name, value in () if self.replayed else asked.items():
            effect = llm.effect_of(self.model, name, value, self._tools)
            if not effect and name == "reasoning_effort":
                raise End("session-error", "effort-dropped", f"{self.model} would be asked without the effort {value}")
            if not effect:
                self.notes.append(f"{name} {value} was dropped: {self.model} takes none")
                continue
            self._wanted[name] = value
            if effect != {name: value}:
                self.notes.append(f"{name} {value} was sent as {json.dumps(effect, sort_keys=True)}")
                if name == "reasoning_effort":
                    self.effort_sent = effect

    def ask(self, messages: Sequence[Mapping[str, Any]], deadline: float) -> llm.Reply:
        """The model's answer. `deadline` in seconds of the monotonic clock."""
        attempt = 0
        while True:
            attempt += 1
            left = deadline - clock.monotonic()
            if left <= 0:
                raise End("session-error", "session-timeout", "the time was up during a model call")
            call = llm.Call(
                self.model,
                messages,
                self._tools,
                seconds=max(1.0, left),
                wanted=self._wanted,
                key=self._key,
                base_url=self._settings["base_url"],
                cancel=self._room.cancel,
            )
            got = llm.complete(call)
            if isinstance(got, llm.Reply):
                self._count(got, attempt)
                if self._tape:
                    self._tape.add(messages, got.raw, llm_messages.as_completion(got.message, got.finish, got.usage))
                return got
            self._failed(got, attempt)
            self._wait(got, attempt, deadline)

    def _count(self, reply: llm.Reply, attempt: int) -> None:
        dollars = 0.0 if self.replayed else reply.dollars
        entry = {"status": "ok", "attempt": attempt, "response_id": reply.id, "usage": reply.usage, "dollars": dollars}
        self.calls.append(entry)
        if reply.usage is None:
            self.usage = None
        elif self.usage is not None:
            self.usage = {name: self.usage[name] + reply.usage[name] for name in TOKENS}
        if dollars is None:
            self.exact = False
            self.notes.append(UNKNOWN_COST)
        self.dollars += dollars or 0.0
        if dollars:
            self._room.spent(dollars)

    def _failed(self, failure: llm.Failure, attempt: int) -> None:
        if failure.kind == "Cancelled":
            raise End("cancelled", "cancelled", failure.detail)
        if self._player is not None and self._player.mismatch is not None:
            self.calls.append({"status": "failed", "attempt": attempt, "error": "cassette-mismatch"})
            raise End("session-error", "cassette-mismatch", str(self._player.mismatch))
        detail = self.redactor.text(failure.detail)
        self.calls.append({"status": "failed", "attempt": attempt, "error": failure.kind, "http_status": failure.status})
        self._room.log(preview(f"model call failed ({failure.kind}): {detail}", 300))
        if not failure.transient or attempt > self._settings["retries"]:
            self.outage = None if self.replayed else _outage(failure)
            raise End("session-error", "model-error", f"{failure.kind} after {attempt} attempts: {detail}")

    def _wait(self, failure: llm.Failure, attempt: int, deadline: float) -> None:
        pause = max(failure.after or 0.0, self._settings["backoff_s"] * 2 ** (attempt - 1))
        pause = min(pause, LONGEST_WAIT_S, max(0.0, deadline - clock.monotonic()))
        if self._room.cancel.wait(pause):
            raise End("cancelled", "cancelled", "cancelled while waiting for the model")


def _outage(failure: llm.Failure) -> dict[str, Any] | None:
    headers = {} if failure.after is None else {"retry-after": f"{failure.after:.3f}"}
    told = {"http_status": failure.status, "error_class": failure.kind, "headers": headers, "answered": bool(failure.status)}
    found = outages.of_call(told, clock.now_utc().timestamp())
    return None if found is None else found.told()
