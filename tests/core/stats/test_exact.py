"""Exact tests against published figures and against scipy's own, and what a test must never do."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core.stats import exact

COUNTS = st.integers(0, 12).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))


@pytest.mark.parametrize(("table", "p"), [((46, 58, 57, 58), 0.00199), ((62, 66, 65, 66), 0.365), ((62, 66, 66, 66), 0.119)])
def test_published_gains_are_settled_by_fishers_test(table: tuple[int, int, int, int], p: float) -> None:
    assert exact.fisher(*table) == pytest.approx(p, rel=0.003)


@given(COUNTS, COUNTS)
@settings(max_examples=60)
def test_one_stratum_is_scipys_fisher(a: tuple[int, int], b: tuple[int, int]) -> None:
    from scipy.stats import fisher_exact

    want = fisher_exact([[a[0], a[1] - a[0]], [b[0], b[1] - b[0]]]).pvalue
    assert exact.fisher(*a, *b) == pytest.approx(want, rel=1e-6)


@given(st.lists(st.tuples(COUNTS, COUNTS), max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_strata_may_come_in_any_order_and_arms_may_change_sides(
    tables: list[tuple[tuple[int, int], tuple[int, int]]], chance: random.Random
) -> None:
    given_ = [(*a, *b) for a, b in tables]
    p = exact.stratified(given_)
    assert 0 < p <= 1
    chance.shuffle(tables)
    assert exact.stratified([(*b, *a) for a, b in tables]) == pytest.approx(p)


def test_a_stratum_in_which_every_run_agrees_says_nothing() -> None:
    assert exact.stratified([]) == 1.0
    assert exact.stratified([(3, 3, 3, 3), (0, 3, 0, 3)]) == pytest.approx(1.0)
    assert exact.stratified([(3, 3, 0, 3), (3, 3, 3, 3)]) == pytest.approx(exact.fisher(3, 3, 0, 3))


@given(st.lists(st.fractions(-1, 1, max_denominator=6), min_size=1, max_size=9))
@settings(max_examples=60)
def test_the_exact_distribution_is_that_of_every_pattern(values: list[Fraction]) -> None:
    seen = abs(sum(values))
    sums = [abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in product((-1, 1), repeat=len(values))]
    want = sum(total >= seen for total in sums) / len(sums)
    assert exact.sign_flip(values)[0] == pytest.approx(want)
    assert exact.sign_flip([float(value) for value in values])[0] == pytest.approx(want)


@given(st.lists(st.floats(-5, 5, allow_subnormal=False), min_size=1, max_size=40), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_order_and_sides_never_reach_a_sign_flip_test(values: list[float], chance: random.Random) -> None:
    p, _ = exact.sign_flip(values)
    assert p is not None
    assert 0 < p <= 1
    chance.shuffle(values)
    assert exact.sign_flip([-value for value in values])[0] == pytest.approx(p, abs=1e-12)


def test_sampling_comes_near_the_exact_p_and_says_so() -> None:
    values = [Fraction(place % 5 - 1, 3) for place in range(24)]
    sampled, how = exact.sign_flip([float(value) for value in values])
    assert "samples" in how
    assert sampled == pytest.approx(exact.sign_flip(values)[0], abs=0.01)


def test_the_least_p_is_what_full_agreement_gives() -> None:
    for tasks in (1, 2, 5, 6, 9):
        assert exact.sign_flip([Fraction(1, 3)] * tasks)[0] == exact.least(tasks)
    assert exact.least(5) > 0.05 > exact.least(6)
    assert exact.sign_flip([])[0] is None
    assert exact.sign_flip([Fraction(0)] * 8)[0] == 1.0


def test_holm_takes_the_smallest_times_their_number_and_never_falls() -> None:
    assert exact.holm({"a": 0.04, "b": 0.01, "c": None, "d": 0.03}) == pytest.approx(
        {"a": 0.06, "b": 0.03, "c": None, "d": 0.06}
    )
    assert exact.holm({}) == {}
