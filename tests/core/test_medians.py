"""Medians per task and arm: excluded rows out, nulls poison, the worst blocker recall counts (spec 2.2, readings 8)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import medians


def row(**fields: Any) -> dict[str, Any]:
    return {"state": "final", "resolved": False} | fields


@pytest.mark.parametrize(
    ("values", "middle"),
    [
        ([3, 1, 2], 2),
        ([1, 2], 1.5),
        ([1, 3], 2),
        ([0.1, 0.2], 0.15),
        ([5], 5),
        ([], None),
        ([None], None),
        ([1, None, 3], None),
        ([0, 0], 0),
        ([826.3, 344.7, 5400.0], 826.3),
    ],
)
def test_the_middle_value(values: list[float | None], middle: float | None) -> None:
    found = medians.median(values)
    assert found == middle
    assert isinstance(found, type(middle))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1))
def test_order_does_not_matter_and_the_median_lies_between(values: list[int]) -> None:
    found = medians.median(values)
    assert found == medians.median(sorted(values, reverse=True))
    assert found is not None
    assert min(values) <= found <= max(values)


@pytest.mark.parametrize(
    ("before", "now", "percent"),
    [
        (1, 0.95, "5"),
        (2.0, 1.0, "50"),
        (3, 2, "33.3"),
        (1, 2, "-100"),
        (0.4, 1.8334, "-358.4"),
        (1, 1.0000001, "0"),
        (8, 8, "0"),
        (0, 1, None),
        (None, 1, None),
        (1, None, None),
        (True, 1, None),
    ],
)
def test_improvement_in_percent(before: Any, now: Any, percent: str | None) -> None:
    assert medians.improvement("duration_s", before, now) == (None if percent is None else Fraction(percent))


def test_a_free_model_saves_nothing() -> None:
    assert medians.improvement("cost_usd", 1.0, 0) is None
    assert medians.improvement("duration_s", 1.0, 0) == 100


@pytest.mark.parametrize(
    ("percents", "middle"),
    [([], None), ([1.0, None], None), ([1.5], 1.5), ([12.3, 12.4], 12.4), ([-0.1, 0.1], 0.0), ([50.0, 10.0, 20.0], 20.0)],
)
def test_the_typical_of_several_percents(percents: list[float | None], middle: float | None) -> None:
    assert str(medians.typical(percents)) == str(middle)


def test_excluded_rows_and_rows_not_run_reach_no_median() -> None:
    rows = [
        row(cost_usd=1.0),
        row(cost_usd=3.0, error_kind="oracle-failed"),
        row(cost_usd=100.0, error_kind="session-error"),
        row(cost_usd=100.0, review_evidence_valid=False),
        row(state="not_run", cost_usd=100.0),
    ]
    assert medians.summary(rows)["cost_usd"] == 2.0
    assert medians.counts(rows, rows) == {
        "planned": 5,
        "runs": 4,
        "valid": 2,
        "excluded": 2,
        "not_run": 1,
        "resolved_valid": 0,
        "resolved": 0,
        "resolved_fresh": 0,
        "error_kinds": {"oracle-failed": 1, "session-error": 1},
    }


def test_one_unmeasured_cost_makes_the_median_unknown() -> None:
    assert medians.summary([row(cost_usd=1.0), row(), row(cost_usd=2.0)])["cost_usd"] is None


def test_a_skill_that_was_not_used_stays_in() -> None:
    rows = [row(cost_usd=1.0), row(cost_usd=2.0), row(cost_usd=9.0, error_kind="skill-not-invoked")]
    assert medians.summary(rows)["cost_usd"] == 2.0


def test_resolved_counts_excluded_rows_too_and_fresh_ones_apart() -> None:
    rows = [row(resolved=True, error_kind="cleanup-failure"), row(resolved=True), row()]
    assert medians.counts(rows, rows[1:])["resolved"] == 2
    assert medians.counts(rows, rows[1:])["resolved_fresh"] == 1


def test_the_cache_is_summed_before_the_median() -> None:
    rows = [row(cache_creation_input_tokens=a, cache_read_input_tokens=b) for a, b in ((0, 10), (10, 0), (1, 1))]
    found = medians.summary(rows)
    assert (found["cache_tokens"], found["cache_creation_input_tokens"], found["cache_read_input_tokens"]) == (10, 1, 1)


def test_review_metrics_are_null_unless_every_valid_row_has_them() -> None:
    full = row(review_f1=0.5, review_blocker_recall=0.5, review_verdict_correct=True, review_clean_pass=False)
    worse = row(review_f1=0.7, review_blocker_recall=0.25, review_verdict_correct=False, review_clean_pass=False)
    found = medians.summary([full, worse])
    assert found["review_f1"] == 0.6
    assert found["review_blocker_recall"] == 0.25
    assert found["review_verdict_correct"] is False
    assert found["review_clean_control"] is None
    lacking = medians.summary([full, row(review_f1=None, review_verdict_correct=None)])
    assert lacking["review_f1"] is None
    assert lacking["review_blocker_recall"] is None
    assert lacking["review_verdict_correct"] is None


def test_rows_without_reviews_have_no_review_fields() -> None:
    assert not [name for name in medians.summary([row(cost_usd=1.0)]) if name.startswith("review_")]
