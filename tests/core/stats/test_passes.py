"""pass@k, pass^k and flips against enumeration; intervals against scipy's, and against how often they hold."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core.stats import passes

RUNS = st.integers(1, 6).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))
COUNTS = st.lists(RUNS, min_size=1, max_size=12).map(lambda runs: {f"t{place}": each for place, each in enumerate(runs)})


@given(RUNS)
def test_each_share_is_that_of_all_draws(counts: tuple[int, int]) -> None:
    passed, runs = counts
    said = [place < passed for place in range(runs)]
    for k in range(1, runs + 1):
        drawn = list(combinations(said, k))
        assert passes.any_of(passed, runs, k) == pytest.approx(sum(map(any, drawn)) / len(drawn))
        assert passes.all_of(passed, runs, k) == pytest.approx(sum(map(all, drawn)) / len(drawn))
    if runs > 1:
        pairs = list(combinations(said, 2))
        assert passes.flips(passed, runs) == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))


@given(st.integers(1, 60).flatmap(lambda items: st.tuples(st.integers(0, items), st.just(items))))
@settings(max_examples=40)
def test_whole_counts_give_scipys_exact_interval(counts: tuple[int, int]) -> None:
    from scipy.stats import binomtest

    want = binomtest(*counts).proportion_ci(0.95, "exact")
    assert passes.clopper_pearson(*counts) == pytest.approx((want.low, want.high))


@given(COUNTS)
@settings(max_examples=60)
def test_bounds_hold_the_share_and_stay_within_zero_and_one(counts: dict[str, tuple[int, int]]) -> None:
    found = passes.of_arm(counts)
    last = None
    for entry in found["pass"]:
        for name in ("any", "all"):
            low, high = entry[f"{name}_interval"]
            assert 0 <= low <= entry[name] <= high <= 1
        assert entry["all"] <= entry["any"]
        if last and last["tasks"] == entry["tasks"]:
            assert last["any"] <= entry["any"] + 1e-6
            assert last["all"] >= entry["all"] - 1e-6
        last = entry
    assert found["pass"][0]["any"] == found["pass"][0]["all"]


@given(COUNTS)
@settings(max_examples=40)
def test_the_same_tasks_again_narrow_every_interval(counts: dict[str, tuple[int, int]]) -> None:
    twice = counts | {f"{task}-again": each for task, each in counts.items()}
    few, many = (passes.of_arm(each)["pass"][0]["any_interval"] for each in (counts, twice))
    assert many[1] - many[0] <= few[1] - few[0] + 1e-6


def test_runs_of_a_task_that_always_agree_count_as_one() -> None:
    together = passes.clustered([1.0, 0.0] * 5, 30)
    assert together == pytest.approx(passes.clopper_pearson(5, 10), abs=1e-6)
    apart = passes.clustered([0.5, 0.5, 0.6, 0.4] * 5, 200)
    assert apart == pytest.approx(passes.clopper_pearson(100, 200), abs=1e-6)


def test_a_perfect_arm_on_four_tasks_may_still_fail_half_of_others() -> None:
    found = passes.of_arm({f"t{place}": (3, 3) for place in range(4)})
    assert found["pass"][0]["any_interval"] == [0.397635, 1.0]
    assert found["flip_rate"] == 0.0
    assert found["flip_interval"] == [0.0, 0.602365]


def test_nothing_measured_is_not_zero() -> None:
    assert passes.of_arm({}) == {"pass": [], "flip_rate": None, "flip_interval": None, "flip_tasks": 0}
    assert passes.of_arm({"t": (1, 1)})["flip_rate"] is None


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "runs"), [(4, 3), (12, 3), (30, 5)])
@pytest.mark.parametrize("rates", [(0.9, 0.9), (0.5, 0.5), (0.0, 1.0), (0.2, 0.9)])
def test_intervals_hold_where_tasks_differ(tasks: int, runs: int, rates: tuple[float, float]) -> None:
    chance = random.Random(tasks)
    true, held = sum(rates) / 2, 0
    for _ in range(500):
        each = [chance.choice(rates) for _ in range(tasks)]
        shares = [sum(chance.random() < rate for _ in range(runs)) / runs for rate in each]
        bounds = passes.clustered(shares, tasks * runs)
        assert bounds is not None
        held += bounds[0] <= true <= bounds[1]
    assert held / 500 >= 0.94
