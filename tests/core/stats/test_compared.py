"""The whole comparison: plain JSON, blind to order, mirrored by sides, and silent where the data are."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core.stats import compare
from tests.core.stats.suites import drawn, row, rows

RUNS = st.integers(1, 4).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))
SUITES = st.lists(st.tuples(RUNS, RUNS), max_size=14)


def both(suite: list[tuple[tuple[int, int], tuple[int, int]]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return rows("a", [a for a, _ in suite], cost_usd=1.0), rows("b", [b for _, b in suite], cost_usd=1.5)


@given(SUITES, st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_order_never_shows_and_everything_is_plain_finite_json(suite: Any, chance: random.Random) -> None:
    a, b = both(suite)
    found = compare(a, b)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    chance.shuffle(a)
    chance.shuffle(b)
    assert compare(a, b) == found


@given(SUITES)
@settings(max_examples=15)
def test_arms_that_change_sides_only_turn_the_sign(suite: Any) -> None:
    a, b = both(suite)
    one, other = (compare(*sides, [])["measures"]["resolved"] for sides in ((a, b), (b, a)))
    for name in ("p", "p_runs", "p_least", "tasks", "excludes_zero"):
        assert one[name] == pytest.approx(other[name], abs=2e-6)
    assert (one["improves"], one["worsens"]) == (other["worsens"], other["improves"])
    if one["improvement"] is not None:
        assert one["improvement"] == pytest.approx(-other["improvement"])
    if one["interval"]:
        assert one["interval"] == pytest.approx([-bound for bound in reversed(other["interval"])], abs=2e-6)
        assert -100 <= one["interval"][0] <= one["improvement"] <= one["interval"][1] <= 100


@given(st.lists(st.tuples(RUNS, RUNS), min_size=6, max_size=10))
@settings(max_examples=15)
def test_the_same_tasks_again_narrow_the_interval_and_raise_no_p_that_suggests_something(suite: Any) -> None:
    few, many = (compare(*both(each), [])["measures"]["resolved"] for each in (suite, suite * 3))
    width = [found["interval"][1] - found["interval"][0] for found in (few, many)]
    assert width[1] < width[0]
    # Where nothing is suggested p may move either way: sums of few steps are coarse (0.75 became 0.77 once).
    assert many["p"] <= few["p"] + 1e-6 or few["p"] > 0.5


def test_a_large_gain_on_many_tasks_is_shown() -> None:
    found = compare(*both([((3, 3), (1, 3))] * 12))["measures"]
    assert found["resolved"]["improves"]
    assert found["resolved"]["improvement"] == pytest.approx(66.666667)
    assert found["resolved"]["more"] is None
    assert found["cost_usd"]["improvement"] == pytest.approx(100 / 3)


def test_four_tasks_show_nothing_of_others_whatever_they_say() -> None:
    found = compare(*both([((3, 3), (0, 3))] * 4))["measures"]["resolved"]
    assert (found["interval"], found["improves"], found["p"], found["p_least"]) == (None, False, 0.125, 0.125)
    assert found["p_runs"] < 0.001
    assert found["smallest"] is None


def test_a_single_run_is_diagnostic_and_decides_nothing() -> None:
    found = compare(*both([((1, 1), (0, 1))] * 20))
    assert found["diagnostic"]
    assert found["measures"]["resolved"]["p"] < 0.001
    assert not found["measures"]["resolved"]["improves"]
    assert found["words"][0].startswith("Diagnostic only")


def test_two_arms_that_always_resolve_are_not_shown_to_be_equal() -> None:
    found = compare(*both([((3, 3), (3, 3))] * 10))["measures"]["resolved"]
    assert found["improvement"] == 0
    assert found["interval"][0] < -10
    assert found["interval"][1] > 10


def test_nothing_on_either_side_is_said_to_be_nothing() -> None:
    found = compare([], [])
    assert found["words"] == ["Nothing can be compared: no task has valid evidence of both arms."]
    assert found["measures"]["resolved"]["improvement"] is None


def test_scores_are_taken_where_there_are_any() -> None:
    a = [row("a", f"t{place}", run, review_weighted_f1=0.8 + place / 100) for place in range(8) for run in range(2)]
    b = [row("b", f"t{place}", run, review_weighted_f1=0.5) for place in range(8) for run in range(2)]
    found = compare(a, b)["measures"]
    assert list(found) == ["resolved", "cost_usd", "review_weighted_f1"]
    assert found["review_weighted_f1"]["improves"]
    assert found["cost_usd"]["why"] == "cost_usd of a run of t0 is not known"


@pytest.mark.slow
@pytest.mark.parametrize("spread", [(0.5, 0.5), (0.1, 0.9)])
@pytest.mark.parametrize("tasks", [6, 12, 30])
def test_without_a_true_difference_hardly_any_suite_improves(tasks: int, spread: tuple[float, float]) -> None:
    """Stated: at most 2.5 % (and as many worsen); 400 suites, three standard errors of room."""
    chance, suites, shown = random.Random(tasks), 400, 0
    for _ in range(suites):
        rates = [chance.uniform(*spread) for _ in range(tasks)]
        measure = compare(drawn("a", rates, 3, chance), drawn("b", rates, 3, chance), [])["measures"]["resolved"]
        shown += measure["improves"]
    assert shown / suites <= 0.025 + 3 * (0.025 * 0.975 / suites) ** 0.5
