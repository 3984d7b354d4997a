"""The way from a sandboxed client to a model: one gateway per run, one door per session. What it carries is counted outside
the sandbox; a provider's key never enters it.

A door is a Unix socket that speaks the Messages API, Chat Completions and Responses for exactly one model. It answers 403
once it is revoked or over its budget, and never passes anything but calls of that model.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

GATEWAYS = {"litellm": "bench.effects.gateway.litellm_proxy:LiteLLMGateway"}
"""Short name → dotted path, imported when used."""

SOCKET = "model"
"""Name of the Unix socket in a door's folder."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What one session wants of its model."""

    session: str
    """Names the session in errors and in the traffic; unique within a run."""
    model: str
    """Any id that LiteLLM knows, or `replay/<cassette>`."""
    effort: str | None = None
    """As the session's key holds it; a cassette is matched by it, a live client sends it by itself."""
    run: int = 0
    cassette: bytes | None = None
    """The cassette file behind a `replay/<name>` model."""
    cassette_name: str | None = None
    skills: Mapping[str, str] = field(default_factory=dict)
    """Name → SKILL.md text of the skills offered, for matching and recording."""
    spent: Callable[[float], None] = lambda dollars: None
    """Told of real dollars, at list price, as soon as a call's are known."""
    left: Callable[[], float | None] = lambda: None
    """Dollars that may be spent yet, by whomever; where none are left calls are cut and refused. None = no bound."""
    base_url: str | None = None
    """Another address of the model's provider."""
    record: bool = False
    """Keep the traffic as a cassette; live models are recorded anyhow, replays never."""
    provider: str = "auto"
    """`auto`, `anthropic` or `openai` (`bench.core.model_routes`)."""
    client: str | None = None
    """What the client's User-Agent begins with; calls of any other are counted as foreign. None = do not look."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What went through a door.

    usage: {input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens} in tokens over all answered
    calls, subagents included, or None where a provider gave none (never 0 for unknown).
    calls: one entry per upstream request in order of their ends, failures too: {status, requested_model, actual_model,
    provider, response_id, call_type, effort (as the provider was asked for it; "" = none, None = not known), started_at,
    completed_at, usage, dollars, http_status?, error?, fault?}. status: ok, failed, cut (stopped by client or door; usage as
    far as it went), unaccounted (the proxy never told of it).
    """

    usage: Mapping[str, int] | None
    calls: tuple[Mapping[str, Any], ...] = ()
    spent_usd: float = 0.0
    """Dollars really spent, as far as they are known; 0 for a replay."""
    list_price_usd: float | None = None
    """What LiteLLM's price list of the installed release says of the usage, replayed or not; None = not known in full."""
    replayed: bool = False
    exact: bool = True
    """Whether `spent_usd` is all of it: False where a call has no known price, or was cut before anybody told of it."""
    outage: Mapping[str, Any] | None = None
    """{cls: rate-limit | usage-limit | overloaded | auth | network | server, status?, resets_at?} of the last call's failure
    where that was the service's, from structured fields only; None otherwise. `resets_at` in seconds since 1970."""
    broken: bool = False
    """Whether the last call failed because our own proxy was not there: no word about the service."""
    refused: tuple[Mapping[str, Any], ...] = ()
    """Calls that the door refused: {why, method, path, model?}."""
    foreign: int = 0
    """Calls that came without the client's key or signature: not made by the client itself."""
    mismatch: str | None = None
    """Conversation, turn and field where a replay left its cassette."""
    efforts: Mapping[str, int] = field(default_factory=dict)
    """Effort that the client itself asked for → in how many calls; "" where it asked for none."""
    recording: bytes | None = None
    """The cassette of this session, secrets stripped."""
    unrecorded: str | None = None
    """Why what was said cannot be kept as a cassette; the session's own figures stand."""


class Door(Protocol):
    """One session's way to its model."""

    folder: Path
    """Host directory (0700, neutral short path) that holds the socket `SOCKET`; bind it plainly, not through an overlay."""
    model: str
    """The id that the client must name."""
    placeholder: str
    """The key that the client is given; worth nothing anywhere else."""

    def revoke(self) -> None:
        """From now on 403; a stream in flight is cut. Safe to call twice."""
        ...

    def close(self) -> Traffic:
        """Revokes, removes socket and folder, and tells what went through. Safe to call twice."""
        ...


class Gateway(Protocol):
    """One per run; whatever it needs is started by the first `open`."""

    def open(self, ask: Ask) -> Door:
        """A door for one session.

        Raises UsageError or CorpusError for an id or cassette that cannot be served, MissingPart where a key or a package is
        absent, EnvironmentRefused where the gateway does not start.
        """
        ...

    def close(self) -> None:
        """Closes every door, ends every process, and leaves nothing behind. Safe to call twice."""
        ...


def create(name: str = "litellm") -> Gateway:
    """A gateway that has started nothing yet."""
    module, cls = GATEWAYS[name].split(":")
    gateway: Gateway = getattr(importlib.import_module(module), cls)()
    return gateway
