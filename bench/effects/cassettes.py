"""Cassettes: recorded model traffic, matched by the structure of a conversation and never by its whole text or global order.

A replay finds its conversation by the digest of the normalised first user prompt, the names of the skills offered and the
take (run r plays take r mod the number of takes); then, turn by turn, model, tool ids (mapped to the recorded ones by their
place) and the set of tool results with their error flags must be the recorded ones. Where several conversations still fit
(two skills of one name with different bodies), those are preferred whose recorded digest of the skills' texts (`offer`) is
this session's, then those whose digest of tool result text (`seen`) is; if the ones left would answer differently, that is a
mismatch too. `offer` and `seen` alone never refuse.
A mismatch is a value that names conversation, turn and field: a replay is never silently something else.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.core import digest
from bench.errors import CorpusError

SCHEMA = 1
FORMATS = ("anthropic", "openai")
MAX_BYTES = 64 << 20

_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Result:
    """A tool result: the id of its call as the session knows it, whether it was an error, its text."""

    id: str
    error: bool
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """What of a model request is matched. `calls[k]` are the tool call ids of the k-th assistant turn so far, in order,
    `results[k]` the results that followed it."""

    model: str
    prompt: str
    calls: tuple[tuple[str, ...], ...] = ()
    results: tuple[tuple[Result, ...], ...] = ()

    @property
    def turn(self) -> int:
        """The number of the turn that is asked for."""
        return len(self.calls)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a request has no recorded answer."""

    conversation: str
    turn: int
    field: str
    recorded: str
    asked: str

    def __str__(self) -> str:
        return (
            f"the cassette does not match: conversation {self.conversation}, turn {self.turn}, field {self.field}: "
            f"recorded {self.recorded}, asked {self.asked}"
        )


@dataclass(frozen=True, slots=True)
class Cassette:
    """A parsed cassette."""

    model: str
    effort: str | None
    format: str
    conversations: tuple[Mapping[str, Any], ...]


def normalised(text: str) -> str:
    """Text as it is digested: NFC, `\\n` line ends, no blanks at line ends, no system reminders, no lone surrogates."""
    text = _SURROGATE.sub("\ufffd", _REMINDER.sub("", text.replace("\r\n", "\n")))
    return unicodedata.normalize("NFC", "\n".join(line.rstrip() for line in text.split("\n"))).strip()


def prompt_digest(text: str) -> str:
    """Digest of a normalised first user prompt."""
    return digest.of("assay/cassette-prompt/1", normalised(text))


def offer_digest(texts: Mapping[str, str]) -> str:
    """Digest of the normalised texts of the skills offered, by name."""
    return digest.of("assay/cassette-offer/1", {name: normalised(text) for name, text in texts.items()})


def seen_digest(texts: Sequence[str]) -> str:
    """Digest of the normalised texts of one turn's tool results, in order of their calls."""
    return digest.of("assay/cassette-seen/1", [normalised(text) for text in texts])


@functools.cache
def _validator() -> Any:
    import jsonschema

    text = importlib.resources.files("bench").joinpath("schemas", "cassette.schema.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def parse(data: bytes, where: str) -> Cassette:
    """Read a cassette. Raises CorpusError naming the first field that is wrong."""
    if len(data) > MAX_BYTES:
        raise CorpusError(f"the cassette holds {len(data)} bytes, the limit is {MAX_BYTES}", where=where)
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"the cassette is not JSON ({type(error).__name__})", where=where) from None
    if isinstance(raw, dict) and raw.get("schema", SCHEMA) != SCHEMA:
        raise CorpusError(f"cassette schema {raw['schema']!r}, this version reads {SCHEMA}", where=where)
    for fault in _validator().iter_errors(raw):
        place = "/".join(str(part) for part in fault.absolute_path) or "top level"
        raise CorpusError(f"the cassette's {place}: {fault.message[:200]}", where=where)
    return Cassette(raw["model"], raw.get("effort"), raw["format"], tuple(raw["conversations"]))


def call_ids(format: str, response: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Ids of the tool calls that recorded response events make, in order."""
    found: list[str] = []
    for event in response:
        if format == "anthropic":
            blocks = event.get("content", []) if event.get("type") == "message" else [event.get("content_block")]
            found += [b["id"] for b in blocks if isinstance(b, dict) and b.get("type") == "tool_use"]
            continue
        for choice in event.get("choices", [])[:1]:
            said = choice.get("message") or choice.get("delta") or {}
            found += [call["id"] for call in said.get("tool_calls") or [] if call.get("id")]
    return tuple(dict.fromkeys(found))


class Player:
    """One session's replay of a cassette. Holds no position: each request carries the whole conversation so far."""

    @classmethod
    def of(cls, data: bytes | None, name: str, *, skills: Mapping[str, str], run: int, effort: str | None = None) -> Player:
        """Of the file behind a `replay/<name>` model, None where there is none. Raises CorpusError."""
        if data is None:
            raise CorpusError("there is no such cassette", where=name, remedy="see corpus/cassettes/")
        return cls(parse(data, name), skills=skills, run=run, effort=effort)

    def __init__(self, cassette: Cassette, *, skills: Mapping[str, str], run: int, effort: str | None = None) -> None:
        """`skills`: name → text of each skill offered."""
        self.cassette = cassette
        self.skills = sorted(skills)
        self.offer = offer_digest(skills)
        self.run = run
        self.effort = effort
        self.mismatch: Mismatch | None = None
        """The first mismatch of this session."""

    def answer(self, request: Request) -> list[dict[str, Any]] | Mismatch:
        """The recorded response events to a request, or why there are none."""
        found = self._answer(request)
        if isinstance(found, Mismatch) and self.mismatch is None:
            self.mismatch = found
        return found

    def _answer(self, request: Request) -> list[dict[str, Any]] | Mismatch:
        name = f"{request.prompt[:60]!r} ({prompt_digest(request.prompt)[:15]})"
        left = self._conversations(request, name)
        if isinstance(left, Mismatch):
            return left
        for turn in range(request.turn + 1):
            fitting, refusals = [], []
            for conversation in left:
                refusal = self._compare(conversation, request, turn)
                if refusal is None:
                    fitting.append(conversation)
                else:
                    refusals.append(Mismatch(name, turn, *refusal))
            if not fitting:
                return refusals[0]
            left = _preferred(fitting, request, turn)
        answers = {json.dumps(c["turns"][request.turn]["response"], sort_keys=True) for c in left}
        if len(answers) > 1:
            asked = f"tool results that tell none of {len(answers)} conversations apart"
            return Mismatch(name, request.turn, "seen", "different answers", asked)
        response: list[dict[str, Any]] = left[0]["turns"][request.turn]["response"]
        return response

    def _conversations(self, request: Request, name: str) -> list[Mapping[str, Any]] | Mismatch:
        """Those with this prompt, these skills and this run's take."""
        if self.effort != self.cassette.effort:
            return Mismatch(name, 0, "effort", repr(self.cassette.effort), repr(self.effort))
        wanted = prompt_digest(request.prompt)
        left = [c for c in self.cassette.conversations if c["prompt"] == wanted]
        if not left:
            recorded = f"{len({c['prompt'] for c in self.cassette.conversations})} other prompts"
            return Mismatch(name, 0, "prompt", recorded, wanted)
        offered = [c for c in left if sorted(c["skills"]) == self.skills]
        if not offered:
            recorded = " or ".join(sorted({str(sorted(c["skills"])) for c in left}))
            return Mismatch(name, 0, "skills", recorded, str(self.skills))
        offered = [c for c in offered if c.get("offer") == self.offer] or offered
        takes = sorted({c["take"] for c in offered})
        take = takes[self.run % len(takes)]
        return [c for c in offered if c["take"] == take]

    def _compare(self, conversation: Mapping[str, Any], request: Request, turn: int) -> tuple[str, str, str] | None:
        """`(field, recorded, asked)` of the first difference at a turn, or None."""
        turns = conversation["turns"]
        if turn >= len(turns):
            return "turn", f"{len(turns)} turns", f"turn {turn}"
        recorded = turns[turn]["request"]
        if recorded["model"] != request.model:
            return "model", recorded["model"], request.model
        if turn == 0:
            return None
        ours = request.calls[turn - 1]
        theirs = call_ids(self.cassette.format, turns[turn - 1]["response"])
        if len(ours) != len(theirs):
            return "calls", f"{len(theirs)} tool calls", f"{len(ours)} tool calls"
        mapped = dict(zip(ours, theirs, strict=True))
        asked = sorted([mapped.get(r.id, f"unknown id {r.id}"), r.error] for r in request.results[turn - 1])
        known = sorted([r["id"], r["error"]] for r in recorded["results"])
        return None if asked == known else ("results", _told(known), _told(asked))


def _preferred(left: list[Mapping[str, Any]], request: Request, turn: int) -> list[Mapping[str, Any]]:
    if turn == 0 or len(left) == 1:
        return left
    order = {call: place for place, call in enumerate(request.calls[turn - 1])}
    results = sorted(request.results[turn - 1], key=lambda r: order.get(r.id, len(order)))
    seen = seen_digest([r.text for r in results])
    alike = [c for c in left if c["turns"][turn]["request"].get("seen") == seen]
    return alike or left


def _told(results: Sequence[Sequence[Any]]) -> str:
    return "[" + ", ".join(f"{name} {'failed' if error else 'ok'}" for name, error in results) + "]"
