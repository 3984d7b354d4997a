"""Engines: what does the agent's work. One protocol, a registry by short name, one conformance suite."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bench.effects.programs import NOTHING, Watched
from bench.effects.sandbox import Finished, Spec

ENGINES = {
    "nop": "bench.effects.engines.calibration:Nop",
    "gold": "bench.effects.engines.calibration:Gold",
    "loop": "bench.effects.engines.loop:Loop",
    "claude": "bench.effects.engines.claude.engine:Claude",
}
"""Short name → dotted path, imported when used."""
UNKNOWN_COST = "what a call cost is not known: the dollars spent are at least the sum told"
"""The diagnostic of a session whose `Outcome.spent_exact` is False."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One Agent Skill as the agent sees it: `path` is that of its SKILL.md inside the sandbox."""

    name: str
    description: str
    path: str
    text: str = ""
    """The whole SKILL.md, to recognise a reading of it; never put into a prompt."""


@dataclass(frozen=True, slots=True)
class Work:
    """What an engine is asked to do. Plain data."""

    prompt: str
    model: str | None
    effort: str | None
    run: int
    limits: Mapping[str, Any]
    """session_s (seconds), turns, tokens."""
    skills: tuple[Skill, ...] = ()
    expected_skill: str | None = None
    """The skill whose use must be shown by this arm's transcript, or None."""
    patch: bytes | None = None
    """Of the gold arm alone."""
    review: bytes | None = None
    """Of the gold arm of a review task alone: what it hands in."""
    hand_in: str | None = None
    """Path of the file that a review hands in, or None."""
    cassette: bytes | None = None
    """The cassette file behind a `replay/<name>` model."""
    cassette_name: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    graph: str | None = None
    """Where the arm's program graph is inside the sandbox, or None."""
    session: str = "session"
    """Names the session, unique within a run."""
    phase: str = "work"
    """plan, work or review."""
    skill_tool: bool = True
    """Whether the agent may load skills by the client's own tool."""
    plugin: str | None = None
    """Where the arm's plugin is inside the sandbox, or None."""
    graph_server: tuple[str, ...] = ()
    """Command of the graph's MCP server inside the sandbox; empty = none."""


@dataclass(frozen=True, slots=True)
class Room:
    """The session's sandbox as an engine may use it."""

    execute: Callable[..., Finished]
    """`execute(argv, *, stdin=b"", seconds=None, env={}, readonly=(), writable=(), watch=None)`: one command in the
    session's layers, home and tmp. Mounts come beside the session's own; `watch` is the sandbox's, and what it raises ends
    the command and comes out here."""
    cancel: threading.Event
    log: Callable[[str], None]
    hide: Mapping[str, str] = field(default_factory=dict)
    """Host paths and what a transcript shows instead of them."""
    spent: Callable[[float], None] = lambda dollars: None
    """Told of real dollars as soon as they are spent, so that a session that breaks is paid for too."""
    left: Callable[[], float | None] = lambda: None
    """Real dollars that its suite may spend yet, as of now; None = no bound. Where none are left, no more calls are made."""
    gateway: Callable[[], Any] | None = None
    """Gives the run's model gateway (`bench.effects.gateway.Gateway`), started by its first session; None where there is
    none."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a session. `error_kind` is None or one of the reference's names (spec 1.4), first cause wins.

    usage: {input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens} in tokens, or None when it
    is unknown (never 0 for unknown). `calls` holds one entry per upstream request, failures included.
    """

    transcript: bytes
    """Canonical JSON Lines, one event a line."""
    usage: Mapping[str, int] | None
    turns: int
    error_kind: str | None = None
    error_detail: str | None = None
    skill_used: bool | None = None
    """True, False, or None = unverifiable or not expected."""
    tool_counts: Mapping[str, int] = field(default_factory=dict)
    calls: tuple[Mapping[str, Any], ...] = ()
    diagnostics: tuple[str, ...] = ()
    spent_usd: float = 0.0
    """Dollars really spent, as far as they are known; 0 for a replay."""
    spent_exact: bool = True
    """Whether that is all of them."""
    replayed: bool = False
    error_class: str | None = None
    """A finer name behind `error_kind`, such as session-timeout or model-error, for counting."""
    recording: bytes | None = None
    """Of a live session: its conversation as a cassette of one, secrets stripped (`bench.effects.cassette_record`)."""
    effort_sent: Mapping[str, Any] | None = None
    """Request parameters that the model library made of the effort, where they are not simply the effort."""
    outage: Mapping[str, Any] | None = None
    """{cls, status?, resets_at?} when it was the model service that ended the session."""
    gateway: Mapping[str, Any] | None = None
    """What gateway and client each say of usage and cost, where there are two that can say it."""


class Ours:
    """Of engines that are code of this package: the protocol is the version."""

    protocol = 1
    client = False

    def identity(self) -> Mapping[str, str]:
        """Nothing beside the protocol."""
        return {}

    def watched(self) -> Watched:
        """Nothing beside our own code."""
        return NOTHING

    def version(self, run: Callable[[Spec], Finished]) -> str:
        """The protocol."""
        return str(self.protocol)


class Engine(Protocol):
    """open, run, close; one instance per session."""

    protocol: int
    """Changes when sessions made by older code would no longer be comparable; part of the runtime record."""
    places: Mapping[str, str]
    """Where the session's read-only trees are shown: role (skills, plugin) → directory inside."""
    client: bool
    """Whether it is an installed client with ways of its own: graph tools come as an MCP server, and where an arm has no
    skills an empty directory that cannot be filled stands in their place."""

    def identity(self) -> Mapping[str, str]:
        """What a runtime is keyed on beside the protocol: {binary: digest} of an installed client, or {missing: what} where
        it is absent, which is refused when a session needs it. Cheap, and raises nothing."""
        ...

    def watched(self) -> Watched:
        """What the identity was read from: as long as none of it changes, neither does the identity. Raises nothing."""
        ...

    def version(self, run: Callable[[Spec], Finished]) -> str:
        """Of the client, asked in the sandbox that `run` starts, or the protocol of an engine of ours. Raises MissingPart,
        StepFailed."""
        ...

    def open(self, work: Work, room: Room) -> None:
        """Check what can be checked before anything is spent. Raises BenchError."""
        ...

    def run(self) -> Outcome:
        """Do the work. The agent's and the model's failures are values in the outcome; ours raise."""
        ...

    def close(self) -> None:
        """Release whatever `open` and `run` took; safe to call twice."""
        ...


def create(name: str) -> Engine:
    """A fresh engine."""
    module, cls = ENGINES[name].split(":")
    engine: Engine = getattr(importlib.import_module(module), cls)()
    return engine
