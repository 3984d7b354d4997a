"""What designs can see: the published half widths and the registered power simulation, and how plans behave."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core.stats import planning
from bench.core.stats.planning import Design


@pytest.mark.parametrize(("cells", "points"), [(50, 19.6), (500, 6.2)])
def test_independent_cells_need_the_published_half_widths(cells: int, points: float) -> None:
    assert 100 * planning.half_width(cells) == pytest.approx(points, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("gain", "power"), [(0.1, 0.30), (0.2, 0.78), (0.3, 0.98)])
def test_the_registered_power_simulation_is_reproduced(gain: float, power: float) -> None:
    """30 tasks × 3 repeats, paired task bootstrap; read as a base rate of 0.3 on every task. Within 3 points."""
    assert planning.power(Design(30, 3, 3), 0.3, gain, "bootstrap", suites=3000) == pytest.approx(power, abs=0.03)


@pytest.mark.parametrize("rule", ["tasks", "bootstrap"])
def test_power_grows_with_the_gain_and_starts_near_its_level(rule: str) -> None:
    found = [planning.power(Design(30, 3, 3), 0.4, gain, rule, suites=500) for gain in (0.0, 0.1, 0.2, 0.3, 0.5)]
    assert found == sorted(found)
    assert found[0] <= 0.05
    assert found[-1] >= 0.99


def test_the_smallest_gain_seen_is_seen_in_eight_of_ten() -> None:
    design = Design(12, 3, 3)
    gain = planning.smallest(design, 0.5)
    assert gain is not None
    assert planning.power(design, 0.5 - gain / 2, gain) == pytest.approx(0.8, abs=0.05)


def test_more_tasks_and_more_runs_see_smaller_gains() -> None:
    sizes = [planning.smallest(Design(*design), 0.5) for design in ((6, 3, 3), (12, 3, 3), (30, 3, 3), (30, 9, 9))]
    assert all(size is not None for size in sizes)
    assert sizes == sorted(sizes, key=lambda size: -(size or 0))
    assert planning.smallest(Design(5, 99, 99), 0.5) is None


@given(st.floats(0.01, 1), st.floats(0.02, 1))
@settings(max_examples=40)
def test_the_tasks_needed_see_the_target_and_one_fewer_would_not_be_planned(spread: float, target: float) -> None:
    tasks = planning.tasks_needed(spread, target)
    assert tasks is not None
    seen, fewer = (planning.smallest_mean(spread, each) for each in (tasks, tasks - 1))
    assert seen is not None
    assert seen <= target
    assert fewer is None or fewer > target


@given(st.floats(0.05, 0.5), st.integers(6, 60), st.floats(0.02, 0.5))
@settings(max_examples=40)
def test_the_runs_needed_see_the_target(noise: float, tasks: int, target: float) -> None:
    runs = planning.runs_needed(noise, 0.0, tasks, target)
    if runs is None:
        runs = planning.MOST_RUNS
        assert planning.smallest_mean((noise / runs) ** 0.5, tasks) > target * 0.999
    else:
        assert planning.smallest_mean((noise / runs) ** 0.5, tasks) <= target * 1.001


def test_a_plan_buys_runs_where_they_suffice_else_tasks() -> None:
    runs = planning.more(0.2, Design(12, 3, 3), 0.4, 0.3, [0.5, 1.5])
    assert runs["runs_per_task"] == 8
    assert runs["tasks_needed"] is None
    assert runs["more_runs"] == 2 * 12 * 5
    assert runs["usd"] == pytest.approx(60 * 0.5 + 60 * 1.5)
    tasks = planning.more(0.2, Design(5, 3, 3), 0.4, 0.3, [0.5, None])
    assert tasks["runs_per_task"] is None
    assert tasks["more_runs"] == (tasks["tasks_needed"] - 5) * 6
    assert tasks["usd"] is None


def test_a_hopeless_plan_is_none() -> None:
    plan = planning.more(1e-5, Design(12, 3, 3), 0.4, 0.3, [1.0, 1.0])
    assert (plan["runs_per_task"], plan["tasks_needed"], plan["more_runs"], plan["usd"]) == (None, None, None, None)


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "gain"), [(12, 0.3), (30, 0.15)])
def test_the_simulated_power_is_that_of_the_comparison_itself(tasks: int, gain: float) -> None:
    import random

    from bench.core.stats import compare
    from tests.core.stats.suites import drawn

    chance, suites = random.Random(5), 300
    shown = sum(
        compare(drawn("a", [0.4 + gain] * tasks, 3, chance), drawn("b", [0.4] * tasks, 3, chance), [])["measures"][
            "resolved"
        ]["improves"]
        for _ in range(suites)
    )
    assert shown / suites == pytest.approx(planning.power(Design(tasks, 3, 3), 0.4, gain), abs=0.09)


@pytest.mark.parametrize(("tasks", "runs"), [(6, 1), (9, 3), (20, 2)])
def test_the_vectorised_test_is_the_exact_one(tasks: int, runs: int) -> None:
    from fractions import Fraction

    from bench.core.stats import exact

    gaps = planning._Suites(Design(tasks, runs, runs), 60).gaps(0.8, 0.3)
    shown = planning._shown(gaps, runs)
    for row, said in zip(gaps, shown, strict=True):
        p, _ = exact.sign_flip([Fraction(round(gap * runs), runs) for gap in row])
        assert p is not None
        assert said == (row.sum() > 0 and p <= 0.05)
