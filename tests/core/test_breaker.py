"""The outage breaker's rule, number by number (spec 2.3 and 2.4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import error_kinds
from bench.core.breaker import Ended, run_length, systemic_kind, tripped

BAD, GOOD = "session-error", None
SYSTEMIC = ["session-error", "infra-error", "cleanup-failure", "review-evidence-invalid"]


def ended(*kinds: str | None) -> list[Ended]:
    """In the order of their starts."""
    return [Ended(number, kind) for number, kind in enumerate(kinds)]


@pytest.mark.parametrize("kind", sorted(error_kinds.EXCLUDED | error_kinds.EVIDENCE_FAILURE | error_kinds.VALID_NEGATIVES))
def test_only_the_four_systemic_kinds_feed_it(kind: str):
    assert systemic_kind({"error_kind": kind}) == (kind if kind in SYSTEMIC else None)


@pytest.mark.parametrize("first", [None, "skill-not-invoked", "oracle-failed", "evidence-unverified", "session-error"])
def test_an_invalid_review_counts_whatever_was_recorded_first(first: str | None):
    assert systemic_kind({"error_kind": first, "review_evidence_valid": False}) == "review-evidence-invalid"


@pytest.mark.parametrize("row", [{}, {"error_kind": "oracle-failed", "review_evidence_valid": True, "review_f1": 0.0}])
def test_a_valid_zero_is_no_outage(row: dict[str, Any]):
    assert systemic_kind(row) is None


def test_it_trips_at_the_limit_and_not_before():
    assert not tripped(ended(BAD, BAD, BAD, BAD), 5)
    assert tripped(ended(BAD, BAD, BAD, BAD, BAD), 5)
    assert tripped(ended(GOOD, BAD, BAD, BAD, BAD, BAD), 5)
    assert tripped(ended(BAD), 1)


def test_one_good_session_among_the_newest_resets():
    assert not tripped(ended(BAD, BAD, BAD, BAD, GOOD), 5)
    assert not tripped(ended(BAD, BAD, GOOD, BAD, BAD, BAD, BAD), 5)


def test_zero_disables_it():
    assert not tripped(ended(*[BAD] * 100), 0)


def test_nothing_ended_nothing_known():
    assert not tripped([], 1)


def test_a_hanging_session_hides_nothing_and_adds_nothing():
    # The third start still runs.
    assert tripped([one for one in ended(BAD, BAD, BAD, BAD, BAD, BAD) if one.started != 2], 5)
    assert not tripped([one for one in ended(BAD, BAD, BAD, BAD, BAD) if one.started != 2], 5)


def test_a_good_session_that_started_before_the_run_and_ended_last_changes_nothing():
    late = [*(Ended(number, BAD) for number in range(1, 6)), Ended(0, GOOD)]
    assert tripped(late, 5)


@given(st.lists(st.sampled_from([BAD, GOOD, "infra-error"]), max_size=30), st.integers(0, 7), st.randoms())
def test_the_order_in_which_they_ended_does_not_matter(kinds: list[str | None], limit: int, chance: Any):
    told = ended(*kinds)
    chance.shuffle(told)
    newest = kinds[-limit:] if limit else []
    assert tripped(told, limit) == (0 < limit <= len(kinds) and None not in newest)
    assert run_length(told) <= len(kinds)
