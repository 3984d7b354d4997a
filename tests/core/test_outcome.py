"""First cause wins; set-up, agent and verifier time-outs are told apart; no work is no success."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core import outcome
from bench.core.outcome import Authored
from bench.core.verdict import Verdict

COUNTS = {"expected": 1, "passed": 1, "failed": 0, "missing": 0, "unexpected": 0}
PASS = Verdict(True, False, COUNTS, "every expected test passed")
FAIL = Verdict(False, True, COUNTS, "1 of 1 hidden tests failed")
HUNG = Verdict(False, False, COUNTS, "the hidden tests hit their limit (time)", limit="time")
GOOD, RED, SLOW = Authored(0, None), Authored(1, None, b"boom"), Authored(None, "time", b"x")
CLEAN: dict[str, Any] = {"error_kind": None}
UNSKILLED = {"error_kind": "skill-not-invoked", "error_class": "skill-not-invoked", "error_detail": "no command read it"}

ROWS = [
    # session, authored, changed, oracle → kind, class, resolved, state
    (CLEAN, GOOD, True, PASS, None, None, True, "final"),
    (CLEAN, RED, True, PASS, "verify-failed", "verify-failed", False, "final"),
    (CLEAN, GOOD, True, FAIL, "oracle-failed", "oracle-failed", False, "final"),
    (CLEAN, RED, True, FAIL, "verify-failed", "verify-failed", False, "final"),
    (CLEAN, GOOD, False, FAIL, "no-work-produced", "no-work-produced", False, "final"),
    (CLEAN, RED, False, FAIL, "verify-failed", "verify-failed", False, "final"),
    (CLEAN, SLOW, True, PASS, "infra-error", "verifier-timeout", False, "unusable"),
    (CLEAN, GOOD, True, HUNG, "infra-error", "verifier-timeout", False, "unusable"),
    (CLEAN, Authored(None, "memory"), True, PASS, "infra-error", "verifier-limit", False, "unusable"),
    (CLEAN, GOOD, True, None, None, None, False, "final"),
    (UNSKILLED, GOOD, True, PASS, "skill-not-invoked", "skill-not-invoked", False, "final"),
    (UNSKILLED, RED, True, FAIL, "skill-not-invoked", "skill-not-invoked", False, "final"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_the_first_cause_wins(row: Any) -> None:
    session, authored, changed, oracle, kind, cls, resolved, state = row
    body = outcome.graded(session, authored, changed, oracle)
    assert (body["error_kind"], body["error_class"], body["resolved"]) == (kind, cls, resolved)
    assert outcome.state(body, "final")[0] == state


def test_a_task_that_passes_without_work_is_seen_as_broken_not_resolved() -> None:
    """Calibration reads oracle_passed, whatever the first cause was."""
    body = outcome.graded(CLEAN, GOOD, False, PASS)
    assert body["error_kind"] == "no-work-produced"
    assert body["oracle_passed"] is True


def test_a_verifier_that_was_stopped_says_nothing() -> None:
    body = outcome.graded(CLEAN, SLOW, True, HUNG)
    assert body["authored_tests_passed"] is None
    assert body["oracle_passed"] is None
    assert body["authored_test_output"] == ""


@pytest.mark.parametrize(
    ("kind", "cls"),
    [("infra-error", "setup-failed"), ("infra-error", "setup-timeout"), ("session-error", "session-timeout")],
)
def test_a_session_without_evidence_carries_its_cause(kind: str, cls: str) -> None:
    """Case 17: a failed set-up and an agent's time-out are separate classes, and neither is the verifier's."""
    session = {"error_kind": kind, "error_class": cls, "error_detail": "why"}
    assert not outcome.may_grade("unusable", session)
    body = outcome.ungraded(session, "unusable", "why")
    assert (body["error_kind"], body["error_class"], body["error_detail"]) == (kind, cls, "why")
    assert body["oracle_passed"] is None
    assert body["ok"] is False
    assert outcome.state(body, "unusable")[0] == "unusable"


def test_a_session_that_was_held_back_holds_its_cell_back() -> None:
    body = outcome.ungraded({}, "not_run", "budget")
    assert body["error_kind"] == "cancelled"
    assert body["error_detail"] == "budget"
    assert outcome.state(body, "not_run")[0] == "not_run"


def test_an_oracle_that_cannot_be_used_never_resolves() -> None:
    body = outcome.graded(CLEAN, GOOD, True, None)
    body |= outcome.unavailable(body, "the expected record is unusable")
    assert body["error_kind"] == "oracle-unavailable"
    assert outcome.state(body, "final")[0] == "unusable"
    earlier = outcome.graded(CLEAN, RED, True, None)
    assert (earlier | outcome.unavailable(earlier, "x"))["error_kind"] == "verify-failed"


def test_nothing_of_a_hidden_run_but_numbers_and_our_own_words_is_kept() -> None:
    assert outcome.graded(CLEAN, GOOD, True, FAIL)["oracle"] == {"passed": 1, "failed": 0, "counts": COUNTS, "why": FAIL.why}
