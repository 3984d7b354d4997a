"""The sets of error kinds are the reference's, and each question about a row has one answer."""

from __future__ import annotations

import pytest

from bench.core import error_kinds


def test_valid_negatives_are_evidence() -> None:
    assert not error_kinds.VALID_NEGATIVES & error_kinds.EXCLUDED
    assert not error_kinds.VALID_NEGATIVES & error_kinds.EVIDENCE_FAILURE


def test_a_skill_that_was_not_used_stays_in_the_medians() -> None:
    row = {"error_kind": "skill-not-invoked"}
    assert not error_kinds.excluded(row)
    assert error_kinds.evidence_failed(row)


@pytest.mark.parametrize("kind", sorted(error_kinds.SYSTEMIC))
def test_what_trips_the_breaker_is_never_evidence(kind: str) -> None:
    assert error_kinds.excluded({"error_kind": kind})


def test_an_invalid_review_is_excluded_whatever_was_recorded_first() -> None:
    row = {"error_kind": "oracle-failed", "review_evidence_valid": False}
    assert error_kinds.excluded(row)
    assert error_kinds.evidence_failed(row)
    assert not error_kinds.execution_failed(row)


def test_a_missing_transcript_is_failed_evidence_but_null_is_not() -> None:
    assert error_kinds.evidence_failed({"error_kind": None, "transcript_missing": True})
    assert not error_kinds.evidence_failed({"error_kind": None, "transcript_missing": None})
