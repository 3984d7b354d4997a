"""A review's cell: the first cause wins, an invalid artifact is no evidence, nop is a failed review."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core import error_kinds, outcome, review_outcome, scoring
from bench.core.outcome import Authored
from bench.core.review_outcome import Judged
from tests.core.reviews import artifact, raw, raw_label, truth

DONE = Authored(0, None, b"")
LABELS = truth(raw_label())
OK: dict[str, Any] = {"error_kind": None}


def graded(
    judged: Judged, session: dict[str, Any] = OK, authored: Authored = DONE, *, calibration: bool = False
) -> dict[str, Any]:
    return review_outcome.graded(session, authored, judged, calibration=calibration)


def test_a_right_review_is_resolved() -> None:
    body = graded(review_outcome.judge(artifact(raw()), None, LABELS))
    assert (body["resolved"], body["ok"], body["oracle_passed"], body["error_kind"]) == (True, True, True, None)
    assert (body["review_evidence_valid"], body["review_weighted_f1"], body["review_clean_control"]) == (True, 1.0, False)
    [pair] = body["review_score"]["matching"]["pairs"]
    assert (pair["finding"], pair["label"]) == ("F0", "L0")
    assert {f"review_{name}" for name in scoring.FIGURES} <= set(body)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (artifact(raw(1), raw(2)), "1 findings too many, 0 missed, the verdict is right"),
        (artifact(), "0 findings too many, 1 missed, the verdict is wrong"),
        (artifact(raw(), verdict="comment"), "0 findings too many, 0 missed, the verdict is wrong"),
    ],
)
def test_a_wrong_review_is_a_valid_negative(data: bytes, why: str) -> None:
    """Readings, trap 8.1: a review with a false positive was never evidence upstream, so nothing could be reused."""
    body = graded(review_outcome.judge(data, None, LABELS))
    assert (body["error_kind"], body["error_detail"], body["resolved"]) == ("oracle-failed", why, False)
    assert not error_kinds.excluded(body)
    assert outcome.state(body, "final") == ("final", None)


@pytest.mark.parametrize(
    ("handed", "said", "cls"),
    [
        (None, None, "review-never-written"),
        (None, {"written": True, "diagnostic": "review-output.json is unreadable: Permission denied"}, "review-unreadable"),
        (b"", None, "review-empty"),
        (b"\xff", None, "review-not-utf8"),
        (b"{", None, "review-not-json"),
        (b"{}", None, "review-invalid"),
    ],
)
def test_an_invalid_artifact_is_no_evidence_and_says_why(handed: bytes | None, said: Any, cls: str) -> None:
    """Failure mode 3: one diagnostic per cause. The verify command, which fails on an empty file too, comes later."""
    body = graded(review_outcome.judge(handed, said, LABELS), authored=Authored(1, None, b""))
    assert (body["error_kind"], body["error_class"]) == ("review-evidence-invalid", cls)
    assert body["review_evidence_valid"] is False
    assert body["resolved"] is False
    assert body["review_weighted_f1"] is None
    assert error_kinds.excluded(body)
    assert outcome.state(body, "final")[0] == "unusable"


def test_the_sessions_own_cause_comes_first_and_the_row_fails_both_ways() -> None:
    """Failure modes 6 and 26: the first cause is kept, and health and breaker still see the invalid review."""
    session = {"error_kind": "skill-not-invoked", "error_detail": "no command read it"}
    body = graded(review_outcome.judge(b"{", None, LABELS), session)
    assert (body["error_kind"], body["review_evidence_valid"]) == ("skill-not-invoked", False)
    assert error_kinds.excluded(body)


def test_red_authored_tests_fail_a_valid_review() -> None:
    body = graded(review_outcome.judge(artifact(raw()), None, LABELS), authored=Authored(1, None, b""))
    assert (body["error_kind"], body["resolved"], body["review_weighted_f1"]) == ("verify-failed", False, 1.0)


@pytest.mark.parametrize("labels", [LABELS, ()])
def test_nop_hands_in_nothing_and_fails_without_spoiling_the_suite(labels: Any) -> None:
    body = graded(review_outcome.judge(None, None, labels), authored=Authored(1, None, b""), calibration=True)
    assert (body["error_kind"], body["oracle_passed"], body["resolved"]) == ("no-work-produced", False, False)
    assert body["review_evidence_valid"] is None
    assert not error_kinds.excluded(body)
    assert not error_kinds.evidence_failed(body)
    assert outcome.state(body, "final") == ("final", None)


def test_a_broken_gold_review_is_no_evidence_either() -> None:
    body = graded(review_outcome.judge(b"{", None, LABELS), calibration=True)
    assert body["error_kind"] == "review-evidence-invalid"


def test_a_session_without_evidence_keeps_no_score() -> None:
    fields = review_outcome.unscored(review_outcome.judge(artifact(raw()), None, LABELS))
    assert (fields["review_evidence_valid"], fields["review_score"], fields["review_f1"]) == (True, None, None)
