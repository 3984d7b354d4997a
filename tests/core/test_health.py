"""States of measurement (spec 2.5, failure modes 4-6): from execution and evidence, never from what was resolved."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core import health


def row(kind: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"state": "final", "resolved": False, "role": "incumbent", "error_kind": kind} | fields


def arm(*rows: dict[str, Any], role: str = "incumbent") -> dict[str, Any]:
    return {"role": role} | health.counters(rows)


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        ([], "UNKNOWN"),
        ([row(state="not_run")], "UNKNOWN"),
        ([row()], "OBSERVED_OK"),
        ([row("oracle-failed"), row("verify-failed")], "OBSERVED_OK"),
        ([row(), row("session-error"), row("session-error")], "DEGRADED"),
        ([row("session-error"), row("evidence-unverified")], "UNUSABLE"),
        ([row("skill-not-invoked")], "UNUSABLE"),
        ([row("oracle-failed", transcript_missing=True)], "UNUSABLE"),
        ([row("oracle-failed", review_evidence_valid=False), row()], "DEGRADED"),
    ],
)
def test_state(rows: list[dict[str, Any]], state: str) -> None:
    assert health.state(health.counters(rows)) == state


def test_51_wrong_reviews_are_a_working_harness() -> None:
    """Failure mode 4: health was inferred from nothing being resolved."""
    assert health.state(health.counters([row("oracle-failed")] * 51)) == "OBSERVED_OK"


def test_a_row_that_fails_both_ways_is_not_subtracted_twice() -> None:
    """Failure mode 6."""
    both = row("session-error", review_evidence_valid=False)
    counted = health.counters([both, row()])
    assert (counted["execution_failures"], counted["evidence_failures"], counted["admissible"]) == (1, 1, 1)
    assert health.state(counted) == "DEGRADED"


def test_only_unusable_incumbents_and_comparators_are_fatal() -> None:
    """Failure mode 5: one good row and two dead ones are DEGRADED, which is told and ends nothing."""
    dead = row("session-error")
    roles = ("incumbent", "comparator", "candidate", "calibration")
    judged = health.judge({role: arm(dead, role=role) for role in roles} | {"half": arm(dead, row())})
    assert judged["fatal"] == ["incumbent", "comparator"]
    assert {entry["state"] for name, entry in judged["arms"].items() if name != "half"} == {"UNUSABLE"}


def test_a_line_gives_counts_and_reasons_and_names_no_cause() -> None:
    judged = health.judge({"review": arm(row("session-error"), row("session-error"), row("evidence-unverified"), row())})
    assert judged["lines"] == [
        "review (incumbent): DEGRADED, 1 of 4 fresh attempts admissible, 2 failed in execution, 1 in evidence, "
        "reasons: evidence-unverified ×1, session-error ×2, cause=undetermined"
    ]


def test_canaries_speak_for_incumbents_and_not_for_candidates() -> None:
    arms = {"old": arm(row()), "new": arm(row(), role="candidate"), "none": arm(row())}
    found = health.with_canaries(arms, {"old": [row("session-error")], "new": [row("session-error")]})
    assert [health.state(found[name]) for name in arms] == ["UNUSABLE", "OBSERVED_OK", "OBSERVED_OK"]


def test_broken_tasks_are_named() -> None:
    judged = health.judge({}, [{"task": "t", "why": "its oracle passes without any change (nop)"}])
    assert judged["lines"] == ["broken task t: its oracle passes without any change (nop); it promotes nothing"]
