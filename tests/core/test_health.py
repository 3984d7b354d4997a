"""States of measurement (spec 2.5, failure modes 4-6): from execution and evidence, never from what was resolved."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_a_canary_that_sings_does_not_hide_sessions_that_all_failed() -> None:
    """Failure modes 5 and 6: the arm's own sessions were dead, its canary was not, and the arm read as all well."""
    both = row("session-error", review_evidence_valid=False)
    counted = health.with_canaries({"old": arm(row("session-error"), both)}, {"old": [row()]})
    judged = health.judge(counted)["arms"]["old"]
    assert (judged["state"], judged["fresh_attempts"], judged["admissible"]) == ("DEGRADED", 3, 1)
    assert (judged["execution_failures"], judged["evidence_failures"]) == (2, 1)
    assert judged["health_reasons"] == {"review-evidence-invalid": 1, "session-error": 2}
    assert health.judge(counted)["lines"][0].startswith(
        "old (incumbent): DEGRADED, 1 of 3 fresh attempts admissible (its canaries, and 2 of its sessions that failed), "
    )
    dead = health.with_canaries({"old": arm(row(), row("session-error"))}, {"old": [row("session-error")]})
    assert health.judge(dead)["fatal"] == ["old"], "what worked may be of long ago"


def test_a_canary_that_was_not_run_says_nothing() -> None:
    counted = health.with_canaries({"old": arm(row(), row(), row())}, {"old": [row(state="not_run")]})
    judged = health.judge(counted)["arms"]["old"]
    assert (judged["state"], judged["fresh_attempts"], judged["canaries"]) == ("OBSERVED_OK", 3, 0)


ROWS = st.lists(
    st.builds(
        row,
        st.sampled_from([None, "oracle-failed", "session-error", "skill-not-invoked", "cancelled"]),
        state=st.sampled_from(["final", "not_run"]),
        review_evidence_valid=st.booleans(),
    ),
    max_size=5,
)
ORDER = ["UNKNOWN", "OBSERVED_OK", "DEGRADED", "UNUSABLE"]


@given(own=ROWS, sung=ROWS)
def test_no_canary_makes_a_failure_unseen(own: list[dict[str, Any]], sung: list[dict[str, Any]]) -> None:
    counted = health.with_canaries({"old": arm(*own)}, {"old": sung})["old"]
    failed = [each for each in (*own, *sung) if health.state(health.counters([each])) == "UNUSABLE"]
    assert counted["fresh_attempts"] - counted["admissible"] == len(failed)
    found = health.state(counted)
    assert (found in ("DEGRADED", "UNUSABLE")) == bool(failed)
    assert ORDER.index(found) >= ORDER.index(health.state(health.counters(sung))), "nor one that fails itself"


@given(ROWS, st.randoms())
def test_the_state_is_one_of_rows_whatever_their_order(rows: list[dict[str, Any]], luck: random.Random) -> None:
    mixed = luck.sample(rows, len(rows))
    assert health.counters(mixed) == health.counters(rows)
    resolved = [each | {"resolved": not each["resolved"]} for each in rows]
    assert health.counters(resolved) == health.counters(rows), "what was resolved is never asked"


def test_broken_tasks_are_named() -> None:
    judged = health.judge({}, [{"task": "t", "why": "its oracle passes without any change (nop)"}])
    assert judged["lines"] == ["broken task t: its oracle passes without any change (nop); it promotes nothing"]
