"""From what a session said and what the verifiers found to the outcome of a cell, in the reference's names (spec 1.4).

The first cause wins, in the order in which things happened: session, authored tests, work done, oracle. Whether a kind is
evidence is `error_kinds`' to say. `error_class` is finer: setup failure, agent time-out and verifier time-out are apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.core import error_kinds, steady
from bench.core.error_kinds import ORACLE_UNAVAILABLE
from bench.core.records import FINAL, NOT_RUN, UNUSABLE
from bench.core.verdict import Verdict

DETAIL = 2000
"""Characters of an error's detail (spec 1.4)."""
CARRIED = (
    "skill_invoked",
    "transcript_missing",
    "num_turns",
    "tool_use_counts",
    "duration_s",
    "evidence_diagnostics",
    "spent_usd",
    "replayed",
    "engine",
    "model",
    "priced_model",
    "effort",
    "backing",
    "pressure",
)
"""Fields of a session that a cell repeats. Not `measured_at`: a cell made again must be the same cell."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a cell is not resolved."""

    kind: str
    cls: str
    detail: str


@dataclass(frozen=True, slots=True)
class Authored:
    """How the visible verify command ended. `limit` and `exit` as in `bench.effects.sandbox.Finished`."""

    exit: int | None
    limit: str | None
    output: bytes = b""

    @property
    def passed(self) -> bool:
        """Exit 0 is the whole of it."""
        return self.exit == 0 and self.limit is None

    @property
    def ran(self) -> bool:
        """Whether it ended by itself; otherwise it says nothing about the work."""
        return self.limit is None and self.exit is not None


def of_session(body: Mapping[str, Any]) -> Cause | None:
    """The session's own cause, or None."""
    kind = body.get("error_kind")
    if not kind:
        return None
    return Cause(str(kind), str(body.get("error_class") or kind), str(body.get("error_detail") or "")[:DETAIL])


def may_grade(state: str, body: Mapping[str, Any]) -> bool:
    """Whether a session left something to grade: it is evidence, whatever the agent did in it."""
    return state == FINAL and not error_kinds.excluded(body)


def first_cause(session: Cause | None, authored: Authored, changed: bool, oracle: Verdict | None) -> Cause | None:
    """The cause that counts, or None for a resolved cell. `oracle` is None where a task has none."""
    if session:
        return session
    if not authored.ran:
        return _unjudged("authored tests", authored.limit)
    if not authored.passed:
        return Cause("verify-failed", "verify-failed", f"the authored tests ended with status {authored.exit}")
    if not changed:
        return Cause("no-work-produced", "no-work-produced", "the workspace is as the task gave it")
    if oracle is None or oracle.passed:
        return None
    if oracle.failed:
        return Cause("oracle-failed", "oracle-failed", oracle.why)
    return _unjudged("hidden tests", oracle.limit)


def _unjudged(what: str, limit: str | None) -> Cause:
    cls = "verifier-timeout" if limit == "time" else "verifier-limit"
    return Cause("infra-error", cls, f"the {what} did not end by themselves: limit of {limit or 'the sandbox'}")


def graded(session: Mapping[str, Any], authored: Authored, changed: bool, oracle: Verdict | None) -> dict[str, Any]:
    """The outcome fields of a cell whose session was graded. `resolved` = ok, authored tests and oracle passed."""
    cause = first_cause(of_session(session), authored, changed, oracle)
    ok = session.get("error_kind") is None
    judged = None if oracle is None else oracle.passed if oracle.passed or oracle.failed else None
    passed = authored.passed if authored.ran else None
    return {
        "ok": ok,
        "resolved": ok and passed is True and judged is True,
        **said(cause),
        "authored_tests_passed": passed,
        "authored_test_output": steady.tail(authored.output) if authored.ran else "",
        "oracle_passed": judged,
        "oracle": None if oracle is None else _counts(oracle),
    }


def ungraded(session: Mapping[str, Any], state: str, reason: str | None) -> dict[str, Any]:
    """The outcome fields of a cell whose session left nothing to grade: the session's kind, carried through."""
    kind = "cancelled" if state == NOT_RUN else "session-error"
    cause = of_session(session) or Cause(kind, kind, (reason or "the session left no evidence")[:DETAIL])
    return {
        "ok": False,
        "resolved": False,
        **said(cause),
        "authored_tests_passed": None,
        "authored_test_output": None,
        "oracle_passed": None,
        "oracle": None,
    }


def unavailable(body: Mapping[str, Any], why: str) -> dict[str, Any]:
    """What changes in a graded cell whose oracle could not be used: it is not resolved, and unless something came first,
    that is the cause."""
    unresolved = {"resolved": False, "oracle_passed": None, "oracle": None}
    return unresolved | ({} if body.get("error_kind") else said(Cause(ORACLE_UNAVAILABLE, ORACLE_UNAVAILABLE, why)))


def said(cause: Cause | None) -> dict[str, str | None]:
    """A cause as a cell's three fields; null for a resolved cell."""
    return {
        "error_kind": cause.kind if cause else None,
        "error_class": cause.cls if cause else None,
        "error_detail": cause.detail if cause else None,
    }


def _counts(oracle: Verdict) -> dict[str, Any]:
    # Names of hidden tests and their output stay out; numbers and one of our own sentences are all that is kept.
    return {
        "passed": oracle.counts["passed"],
        "failed": oracle.counts["failed"],
        "counts": dict(oracle.counts),
        "why": oracle.why,
    }


def state(body: Mapping[str, Any], session_state: str) -> tuple[str, str | None]:
    """`(state, reason)` of the cell's record. What is no evidence is unusable; what was held back stays held back."""
    if session_state == NOT_RUN:
        return NOT_RUN, f"the session did not run: {body.get('error_detail') or 'held back'}"
    if session_state != FINAL or error_kinds.excluded(body) or body.get("error_kind") == ORACLE_UNAVAILABLE:
        return UNUSABLE, f"{body.get('error_kind')}: {body.get('error_detail') or ''}"[:400]
    return FINAL, None
