"""The interval over tasks: deterministic, blind to order, mirrored by sides, narrower with more of the same tasks."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core.stats import bootstrap

VALUES = st.lists(st.sampled_from([-1.0, -2 / 3, -1 / 3, 0.0, 1 / 3, 2 / 3, 1.0]), min_size=6, max_size=25)


@given(VALUES, st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_order_never_shows_and_sides_only_turn_the_sign(values: list[float], chance: random.Random) -> None:
    found = bootstrap.interval(values, 0.05)
    assert found is not None
    assert found == bootstrap.interval(values, 0.05)
    chance.shuffle(values)
    assert bootstrap.interval(values, 0.05) == found
    turned = bootstrap.interval([-value for value in values], 0.05)
    assert turned == pytest.approx((-found[1], -found[0]), abs=1e-12)


@given(VALUES)
@settings(max_examples=30)
def test_the_mean_lies_within_and_no_bound_lies_outside_the_values(values: list[float]) -> None:
    found = bootstrap.interval(values)
    if len(set(values)) == 1:
        assert found is None
    else:
        assert found is not None
        assert min(values) - 1e-12 <= found[0] <= sum(values) / len(values) <= found[1] <= max(values) + 1e-12


@given(VALUES.filter(lambda values: len(set(values)) > 1))
@settings(max_examples=30)
def test_four_times_the_tasks_narrow_the_interval(values: list[float]) -> None:
    few, many = bootstrap.interval(values), bootstrap.interval(values * 4)
    assert few is not None
    assert many is not None
    assert many[1] - many[0] < few[1] - few[0]


def test_tasks_that_all_agree_still_have_the_noise_of_their_runs() -> None:
    found = bootstrap.interval([0.0] * 12, 0.1)
    assert found is not None
    assert found[0] == pytest.approx(-0.1 * bootstrap.t_quantile(0.975, 11))
    assert bootstrap.interval([0.0] * 12) is None


def test_five_tasks_have_no_interval() -> None:
    assert bootstrap.interval([0.1, 0.2, 0.3, 0.4, 0.5], 0.1) is None
    assert bootstrap.interval([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) is not None


def test_few_tasks_widen_the_plain_percentiles_and_many_hardly_do() -> None:
    chance = random.Random(3)
    for tasks, least, most in ((8, 1.25, 1.6), (400, 0.99, 1.02)):
        values = [chance.gauss(0, 1) for _ in range(tasks)]
        wide, plain = bootstrap.interval(values), bootstrap.percentile(values)
        assert wide is not None
        assert least < (wide[1] - wide[0]) / (plain[1] - plain[0]) < most


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [6, 10, 30])
def test_the_interval_holds_as_often_as_it_says(tasks: int) -> None:
    chance = random.Random(tasks)
    held = 0
    for _ in range(400):
        found = bootstrap.interval([sum(chance.random() < 0.5 for _ in range(3)) / 3 - 0.5 for _ in range(tasks)])
        held += found is None or found[0] <= 0 <= found[1]
    assert held / 400 >= 0.92
