"""The implementation gate: every threshold at, below and above its value; incidents #14 and #33; properties."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.promotions import Row, arms, decided, document, failing

PROMOTE, KEEP, INSUFFICIENT = "promote", "keep_incumbent", "insufficient_evidence"


def costs(task: str, before: float, now: float, solved: tuple[int, int] = (3, 3)) -> list[Row]:
    """Three runs of each arm at one cost; `solved` says how many of each solved it."""
    sides = [
        [{"cost_usd": cost, "resolved": number < count} for number in range(3)]
        for cost, count in zip((before, now), solved, strict=True)
    ]
    return arms(task, *sides)


@pytest.mark.parametrize(
    ("now", "decision"),
    [(0.95, PROMOTE), (0.9504, PROMOTE), (0.9506, KEEP), (0.96, KEEP), (1.2, KEEP), (1.21, KEEP)],
)
def test_five_percent_after_rounding_promotes(now: float, decision: str) -> None:
    """Readings 10: 4.96 % is 5.0 %, and 4.94 % is 4.9 %."""
    assert decided(costs("t", 1.0, now)) == decision


def test_worse_than_twenty_percent_is_strict() -> None:
    rows = costs("a", 1.0, 1.2) + costs("b", 1.0, 0.5) + costs("c", 1.0, 0.5)
    assert decided(rows) == PROMOTE
    rows = costs("a", 1.0, 1.202) + costs("b", 1.0, 0.5) + costs("c", 1.0, 0.5)
    found = document(rows)
    assert found["decision"] == KEEP
    assert failing(found, "regression") == {"efficiency"}


def test_the_median_of_gated_tasks_decides() -> None:
    assert decided(costs("a", 1.0, 0.5) + costs("b", 1.0, 1.0) + costs("c", 1.0, 1.0)) == KEEP
    found = document(costs("a", 1.0, 0.9) + costs("b", 1.0, 1.0))
    assert found["decisions"][0]["median_improvement_pct"] == 5
    assert found["decision"] == PROMOTE


def test_two_more_solved_runs_promote_at_the_same_cost_and_one_is_noise() -> None:
    assert decided(costs("a", 1.0, 1.0, (1, 3)) + costs("b", 1.0, 1.0)) == PROMOTE
    assert decided(costs("a", 1.0, 1.0, (2, 3)) + costs("b", 1.0, 1.0)) == KEEP
    assert decided(costs("a", 1.0, 0.9, (2, 3)) + costs("b", 1.0, 0.9)) == PROMOTE


def test_solving_less_often_is_a_regression_whatever_it_saves() -> None:
    found = document(costs("a", 1.0, 0.1, (3, 2)) + costs("b", 1.0, 0.1))
    assert found["decision"] == KEEP
    assert {"resolved_rate", "quality_floor"} <= failing(found, "regression")


def test_the_quality_floor_is_literal() -> None:
    """Readings 11: 1 of 3 before and 2 of 3 now is keep."""
    assert decided(costs("a", 1.0, 0.5, (1, 2)) + costs("b", 1.0, 0.5)) == KEEP
    assert decided(costs("a", 1.0, 0.9, (0, 1)) + costs("b", 1.0, 0.9)) == PROMOTE


def test_one_of_three_is_not_worse_than_none() -> None:
    """Failure mode 14: 1/3 once scored worse than 0/3."""
    rest = costs("b", 1.0, 0.9)
    assert decided(costs("a", 1.0, 1.0, (0, 0)) + rest) == PROMOTE
    assert decided(costs("a", 1.0, 1.0, (0, 1)) + rest) == PROMOTE


def test_a_task_that_neither_solves_still_has_a_cap() -> None:
    """Failure mode 14: an 800 % regression passed on a task that both arms failed."""
    rest = costs("b", 1.0, 0.9) + costs("c", 1.0, 0.9)
    at_cap = document(costs("a", 1.0, 2.0, (0, 0)) + rest)
    assert at_cap["decision"] == PROMOTE
    assert at_cap["decisions"][0]["ungated_tasks"] == ["a"]
    assert at_cap["decisions"][0]["gated_tasks"] == ["b", "c"]
    assert any("not judged" in reason for reason in at_cap["decisions"][0]["reasons"])
    over = document(costs("a", 1.0, 2.01, (0, 0)) + rest)
    assert (over["decision"], failing(over, "regression")) == (KEEP, {"failed_task_regression"})
    assert decided(costs("a", 1.0, 9.0, (0, 0)) + rest) == KEEP


@pytest.mark.parametrize("arm", [0, 1])
def test_a_skill_that_was_never_loaded_keeps_a_task_gated(arm: int) -> None:
    """Failure mode 14 and reading 11: in either arm; the candidate must then solve every run."""
    rows = costs("a", 1.0, 1.0, (0, 0))
    rows[3 * arm] |= {"error_kind": "skill-not-invoked"}
    found = document(rows + costs("b", 1.0, 0.9) + costs("c", 1.0, 0.9))
    assert (found["decision"], failing(found, "regression")) == (KEEP, {"quality_floor"})
    assert found["decisions"][0]["ungated_tasks"] == []


def test_half_the_tasks_must_be_gated() -> None:
    unsolved = [costs(name, 1.0, 1.0, (0, 0)) for name in "ab"]
    assert decided(unsolved[0] + unsolved[1] + costs("c", 1.0, 0.5) + costs("d", 1.0, 0.5)) == PROMOTE
    assert decided(unsolved[0] + unsolved[1] + costs("c", 1.0, 0.5)) == INSUFFICIENT
    over = costs("a", 1.0, 3.0, (0, 0))
    assert decided(over) == INSUFFICIENT, "all ungated with one over the cap: insufficient comes first (readings 12)"


@pytest.mark.parametrize("facts", [{"cost_usd": None}, {"cost_usd": 0.0}])
def test_an_unknown_or_zero_metric_of_the_incumbent_is_insufficient(facts: dict[str, Any]) -> None:
    """Failure mode 33: null cost once counted as nothing, and won."""
    rows = costs("a", 1.0, 0.5)
    for row in rows[:3]:
        row |= facts
    assert decided(rows) == INSUFFICIENT


def test_a_null_cost_of_the_candidate_wins_nothing() -> None:
    rows = costs("a", 1.0, 0.5)
    rows[4]["cost_usd"] = None
    found = document(rows)
    assert found["decision"] == INSUFFICIENT
    assert "metric" in failing(found, "insufficient")


def test_an_unmeasured_metric_keeps_an_unsolved_task_gated() -> None:
    rows = costs("a", 1.0, 0.5, (0, 0))
    rows[0]["cost_usd"] = None
    assert decided(rows + costs("b", 1.0, 0.5) + costs("c", 1.0, 0.5)) == INSUFFICIENT


def test_fewer_than_three_valid_runs_or_unequally_many_are_insufficient() -> None:
    two = arms("a", [{}] * 2, [{"cost_usd": 0.5}] * 2)
    assert decided(two) == INSUFFICIENT
    assert decided(two, thresholds={"min_runs": 2}) == PROMOTE
    assert "equal_runs" in failing(document(arms("a", [{}] * 3, [{}] * 4)), "insufficient")


def test_an_excluded_run_is_insufficient() -> None:
    """Failure modes 13 and 16: a run that timed out or has no transcript is no evidence, and blocks."""
    rows = arms("a", [{}] * 4, [{"cost_usd": 0.5}] * 4)
    rows[7] |= {"error_kind": "session-error", "state": "unusable", "resolved": False}
    assert {"excluded_runs", "equal_runs"} <= failing(document(rows), "insufficient")


def test_other_metrics_and_thresholds_are_the_suites() -> None:
    rows = arms("a", [{"duration_s": 10.0}] * 3, [{"duration_s": 9.7}] * 3)
    assert decided(rows, thresholds={"metric": "duration_s"}) == KEEP
    assert decided(rows, thresholds={"metric": "duration_s", "min_improvement_pct": 3}) == PROMOTE


@given(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.5, 0.94, 1.0, 1.1, 1.2, 1.3]))
def test_solving_more_of_a_gated_task_never_loses_a_promotion(before: int, now: int, cost: float) -> None:
    """The monotone floor: with everything else the same, one more solved run never makes a decision worse."""
    if now == 3 or before + now == 0:
        return
    order = [INSUFFICIENT, KEEP, PROMOTE]
    rest = costs("b", 1.0, 0.9) + costs("c", 1.0, 0.9)
    less, more = (decided(costs("a", 1.0, cost, (before, count)) + rest) for count in (now, now + 1))
    assert order.index(more) >= order.index(less)


def test_a_cost_of_nothing_is_no_saving() -> None:
    """A free or local model has no price that could fall: nothing is promoted for being free."""
    for before, now in ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0)):
        found = document(costs("a", before, now) + costs("b", before, now))
        assert found["decision"] == INSUFFICIENT
        assert failing(found, "insufficient") == {"metric"}
