"""Whether a session of the client is evidence: the first cause of a failure, from structured facts alone. Pure.

A service that refused is an outage, whatever the client's exit status says; words in a tool's output never are. A session
that was cut keeps what it said, and its cost is at least what was counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.effects.engines.claude import evidence
from bench.effects.engines.claude.stream import Stream
from bench.effects.engines.transcript import preview


@dataclass(frozen=True, slots=True)
class End:
    """How the client's process ended."""

    exit: int | None
    limit: str | None
    seconds: float
    """The session's limit."""
    said: str = ""
    """Last words on its standard error."""
    stopped: str | None = None
    """Which bound of ours ended it, beside the sandbox's: token."""


BUDGET, FORBIDDEN = "budget", 403
Cause = tuple[str | None, str | None, str | None]
"""(error kind, class, detail), all None for a session that is fine."""
_LIMITS = {
    "time": ("session-error", "session-timeout"),
    "output": ("evidence-unverified", "transcript-limit"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """What the gateway says of the session."""

    spent: float | None = None
    """Dollars that it counted, None where it knows of none and not of all."""
    outage: Mapping[str, Any] | None = None
    mismatch: str | None = None
    refused: tuple[str, ...] = ()
    """Why the door refused calls; the service never saw them."""
    broken: bool = False
    """Whether the last call failed because the gateway itself was gone."""


def judge(stream: Stream, end: End, told: Told) -> Cause:
    """The first cause."""
    if end.limit == "cancelled":
        return "cancelled", "cancelled", "cancelled during the session"
    if told.mismatch:
        return "session-error", "cassette-mismatch", told.mismatch
    bounded = _bounded(end, told.spent)
    # A client that waits for a service that refuses it, or for a gateway that is gone, runs into its time limit: their
    # failure, not its own.
    if bounded and not (end.limit == "time" and (told.outage or told.broken) and not end.stopped):
        return bounded
    failed = _failed(stream, end, told.outage)
    if failed and BUDGET in told.refused:
        return "session-error", "budget-limit", f"its budget was spent{_least(told.spent)}"
    if failed and told.broken:
        return "infra-error", "gateway", f"the model gateway broke down in mid-session{_least(told.spent)}"
    refused = told.outage or evidence.rejected(stream)
    if refused and failed and not told.outage and told.refused and refused.get("status") == FORBIDDEN:
        return "session-error", "call-refused", f"the door refused a call: {told.refused[-1][:200]}"
    if refused and failed:
        until = f", resets at {refused['resets_at']}" if refused.get("resets_at") else ""
        return "session-error", f"outage-{refused['cls']}", f"the model service refused: {refused['cls']}{until}"
    return _stream(stream, end, told.spent) or _result(stream, end) or (None, None, None)


def _bounded(end: End, spent: float | None) -> Cause | None:
    if end.stopped:
        return "session-error", f"{end.stopped}-limit", f"more {end.stopped}s than allowed{_least(spent)}"
    if end.limit is None:
        return None
    kind, cls = _LIMITS.get(end.limit, ("session-error", f"sandbox-{end.limit}"))
    detail = {
        "time": f"not done within {end.seconds:g} s",
        "output": "the client said more than can be kept",
    }.get(end.limit, f"the sandbox's limit of {end.limit} was reached")
    return kind, cls, detail + _least(spent)


def _failed(stream: Stream, end: End, outage: Mapping[str, Any] | None) -> bool:
    # A success after refusals that were retried is one; the gateway tells only of a last call that failed.
    return outage is not None or end.exit != 0 or stream.result is None or bool(stream.result.get("is_error"))


def _stream(stream: Stream, end: End, spent: float | None) -> Cause | None:
    if not stream.faults:
        return None
    if stream.result is None and end.exit not in (0, None) and not stream.truncated:
        said = f": {preview(end.said[-300:], 300)}" if end.said.strip() else " and said nothing"
        return "session-error", "no-result", f"the client ended with exit status {end.exit}{said}{_least(spent)}"
    cls = "stream-truncated" if stream.truncated else "stream-invalid"
    return "session-error", cls, "; ".join(stream.faults)[:400] + _least(spent)


def _result(stream: Stream, end: End) -> Cause | None:
    result = stream.result or {}
    subtype = result.get("subtype")
    if subtype == "error_max_turns":
        return "session-error", "turn-limit", "not done within the allowed turns"
    if result.get("is_error") is not False or not isinstance(subtype, str) or subtype.startswith("error"):
        words = preview(str(result.get("result") or subtype or "no subtype"), 300)
        return "session-error", "client-error", f"the client reports an error: {words}"
    if end.exit != 0:
        return "session-error", "client-exit", f"the client ended with exit status {end.exit} after its result"
    if stream.usage is None:
        return "session-error", "usage-incomplete", "the result lacks a token count"
    return None


def _least(spent: float | None) -> str:
    return f" (cost at least ${spent:.4f})" if spent is not None else " (cost unknown)"
