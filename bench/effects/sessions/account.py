"""What is known of a session so far, phase by phase, and the body that its record gets. It adds up and judges nothing.

A total is unknown as soon as one phase's figure is. The first cause of a failure is kept; what comes after it is named as a
diagnostic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.core.records import Blob
from bench.effects import cassette_record
from bench.effects.engines import Outcome
from bench.effects.engines.transcript import dump
from bench.effects.store import Store
from bench.errors import CorpusError


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase that was played."""

    name: str
    skill: str | None
    outcome: Outcome
    seconds: float

    def told(self) -> dict[str, Any]:
        """As it stands in the record."""
        outcome = self.outcome
        return {
            "phase": self.name,
            "skill": self.skill,
            "skill_invoked": outcome.skill_used,
            "turns": outcome.turns,
            "usage": dict(outcome.usage) if outcome.usage is not None else None,
            "duration_s": round(self.seconds, 1),
            "error_kind": outcome.error_kind,
            "error_class": outcome.error_class,
            "error_detail": outcome.error_detail,
            "events": outcome.transcript.count(b"\n"),
            "calls": len(outcome.calls),
        }


@dataclass(slots=True)
class Account:
    """`kind`, `cls`, `detail` hold the first cause of a failure."""

    store: Store
    backing: str
    measured_at: str
    kind: str | None = None
    cls: str | None = None
    detail: str | None = None
    setup: dict[str, Any] | None = None
    phases: list[Phase] = field(default_factory=list)
    broken_s: float = 0.0
    """Seconds of a phase that ended in an error of ours."""
    changed: bool | None = None
    review: dict[str, Any] | None = None
    priced_model: str | None = None
    """Whose list price the session's tokens have: the model, or the one that a cassette recorded."""
    pressure: dict[str, Any] = field(default_factory=dict)
    diagnostics: list[str] = field(default_factory=list)
    outputs: dict[str, Blob] = field(default_factory=dict)

    def fail(self, kind: str, cls: str, detail: str) -> None:
        """The first cause is kept; what comes after it is a diagnostic."""
        if self.kind is None:
            self.kind, self.cls, self.detail = kind, cls, detail
        else:
            self.diagnostics.append(f"{kind}: {detail}")

    def spoiled(self, fault: str, text: str) -> None:
        """The review is no evidence, whatever else came first: a missing or malformed one, a workspace that was changed."""
        assert self.review is not None, "a review was looked for"
        if self.review["diagnostic"] is None:
            self.review |= {"diagnostic": text, "fault": fault}
        self.fail("review-evidence-invalid", fault if fault == "workspace-changed" else f"review-{fault}", text)

    def played(self, phase: Phase) -> None:
        """Take in a phase: its outputs come after those of the phases before it."""
        self.phases.append(phase)
        outcomes = [done.outcome for done in self.phases]
        self.outputs["transcript"] = self.store.put(b"".join(outcome.transcript for outcome in outcomes))
        calls = [dump(dict(call)).encode() + b"\n" for outcome in outcomes for call in outcome.calls]
        if calls:
            self.outputs["calls"] = self.store.put(b"".join(calls))
        tapes = [outcome.recording for outcome in outcomes if outcome.recording is not None]
        if tapes:
            try:
                self.outputs["recording"] = self.store.put(cassette_record.merge(tapes))
            except CorpusError as error:  # a session that was paid for is not lost with its recording
                self.outputs.pop("recording", None)
                self.diagnostics.append(f"no recording is kept: {error.what}")
        if phase.outcome.error_kind:
            outcome = phase.outcome
            self.fail(str(outcome.error_kind), outcome.error_class or str(outcome.error_kind), outcome.error_detail or "")
        elif phase.skill and phase.outcome.skill_used is not True:
            self._unshown(phase.skill, phase.outcome.skill_used)

    def _unshown(self, skill: str, used: bool | None) -> None:
        if used is False:
            self.fail("skill-not-invoked", "skill-not-invoked", f"nothing in the session used the skill {skill}")
        else:
            self.fail("evidence-unverified", "skill-unverifiable", f"whether the skill {skill} was used cannot be told")

    def body(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The record's body, not yet redacted."""
        outcomes = [phase.outcome for phase in self.phases]
        effort_sent = next((outcome.effort_sent for outcome in outcomes if outcome.effort_sent), None)
        outage = next((outcome.outage for outcome in outcomes if outcome.outage), None)
        said = {
            "error_kind": self.kind,
            "error_class": self.cls,
            "error_detail": self.detail,
            "skill_invoked": _skills(self.phases),
            "transcript_missing": "transcript" not in self.outputs,
            "num_turns": sum(outcome.turns for outcome in outcomes),
            "tool_use_counts": _added([outcome.tool_counts for outcome in outcomes]),
            "usage": _usage([outcome.usage for outcome in outcomes]),
            "duration_s": round(self.broken_s + sum(phase.seconds for phase in self.phases), 1),
            "evidence_diagnostics": [*(note for outcome in outcomes for note in outcome.diagnostics), *self.diagnostics],
            "spent_usd": round(sum(outcome.spent_usd for outcome in outcomes), 6),
            "spent_exact": all(outcome.spent_exact for outcome in outcomes),
            "replayed": any(outcome.replayed for outcome in outcomes),
            "engine": params["engine"],
            "model": params.get("model"),
            "effort": params.get("effort"),
            "effort_sent": dict(effort_sent) if effort_sent else None,
            "backing": self.backing,
            "pressure": self.pressure,
            "measured_at": self.measured_at,
            "workspace_changed": self.changed,
            "setup": self.setup,
            "priced_model": self.priced_model,
            "phases": [phase.told() for phase in self.phases],
            "calls": _calls(outcomes),
            "outage": dict(outage) if outage else None,
            "gateway": _gateway([outcome.gateway for outcome in outcomes]),
        }
        if self.review is not None:
            said |= {"review": self.review, "review_evidence_valid": self.review["diagnostic"] is None}
        return said


def _skills(phases: list[Phase]) -> bool | None:
    used = [phase.outcome.skill_used for phase in phases if phase.skill or phase.outcome.skill_used is not None]
    if not used or None in used:
        return None if not used or False not in used else False
    return all(used)


def _usage(parts: list[Mapping[str, int] | None]) -> dict[str, int] | None:
    known = [part for part in parts if part is not None]
    return _added(known) if parts and len(known) == len(parts) else None


def _added(parts: list[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, number in part.items():
            total[name] = total.get(name, 0) + number
    return total


def _calls(outcomes: list[Outcome]) -> dict[str, int]:
    states = [str(call.get("status")) for outcome in outcomes for call in outcome.calls]
    return {state: states.count(state) for state in ("ok", "failed")}


def _gateway(parts: list[Mapping[str, Any] | None]) -> dict[str, Any] | None:
    told = [part for part in parts if part is not None]
    if not told:
        return None
    costs = {name: [part[name] for part in told] for name in ("cost_usd", "cli_cost_usd")}
    summed = {name: None if None in known else round(sum(known), 6) for name, known in costs.items()}
    apart = [part["apart"] for part in told if part["apart"] is not None]
    return {
        "usage": _usage([part["usage"] for part in told]),
        "cli_usage": _usage([part["cli_usage"] for part in told]),
        **summed,
        "foreign_calls": sum(part["foreign_calls"] for part in told),
        "refused": [call for part in told for call in part["refused"]][:20],
        "apart": max(apart, default=None),
    }
