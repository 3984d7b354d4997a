"""Suites without any true difference, put through the promotion gate: how often luck alone promotes.

The literal policy makes no promise; `policy: statistical` lets an improvement count only where it is shown, which at a true
difference of zero happens in at most 2.5 % of suites per measure: 5 % for its two, resolved runs and the metric. Reviews
promote by the metric alone.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from bench.core import gate, gate_implementation, gate_review, gate_statistics, promotion_sides
from bench.core.promotion_sides import Measured
from bench.core.rows import where
from bench.core.stats import compare
from tests.core import promotions

STATED = 0.05
SUITES = 250
POLICY = promotions.IMPLEMENTATION | {"policy": gate_statistics.STATISTICAL}
REVIEW_POLICY = promotions.REVIEW | {"policy": gate_statistics.STATISTICAL}


def suite(chance: random.Random, tasks: int, rate: float, spread: float) -> list[dict[str, Any]]:
    """Three runs of two arms that are one and the same: a rate of resolving, and costs that vary by `spread`."""
    rows = []
    for task in range(tasks):
        size = chance.uniform(0.5, 2)
        for arm in promotions.ARMS:
            for number in range(3):
                cost = round(size * chance.lognormvariate(0, spread), 4)
                rows.append(promotions.run(f"t{task}", arm, number, resolved=chance.random() < rate, cost_usd=cost))
    return rows


def reviews(chance: random.Random, tasks: int, varying: float, gain: float = 0.0) -> list[dict[str, Any]]:
    """Three reviews of two arms that are one and the same but for `gain`: a score per task, which each run differs from on
    a share `varying` of the tasks; on the others every run finds the same.

    Verdicts and blockers are always right, so that the score alone decides: where they are not, less is promoted.
    """
    rows = []
    for task in range(tasks):
        typical, spread = chance.uniform(0.3, 0.8), 0.1 if chance.random() < varying else 0.0
        for arm in promotions.ARMS:
            for number in range(3):
                better = gain if arm == "candidate" else 0.0
                score = round(min(1.0, max(0.0, chance.gauss(typical + better, spread))), 6)
                rows.append(promotions.reviewed(f"t{task}", arm, number, score, resolved=False))
    return rows


def promoted(rows: list[dict[str, Any]], tasks: int, judge: Any = gate_implementation.judge) -> tuple[bool, bool]:
    """Whether the literal and whether the statistical policy promotes."""
    policy = REVIEW_POLICY if judge is gate_review.judge else POLICY
    found = {where(row): Measured(True, promotions.STAMP, sandbox="bwrap") for row in rows}
    names = [(f"t{task}", "bug") for task in range(tasks)]
    pairs = promotion_sides.pairs(promotions.body(rows), found, names, promotions.ARMS)
    checks = judge(pairs, policy).checks
    if gate.decision(checks) != gate.PROMOTE:
        return False, False
    arms = [[row for row in rows if row["arm"] == arm] for arm in ("candidate", "incumbent")]
    said = compare(*arms, gate_statistics.measures(policy))
    return True, gate.decision(gate_statistics.held(checks, said, policy)) == gate.PROMOTE


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "spread"), [(1.0, 0.15), (1.0, 0.05), (0.9, 0.15), (0.0, 0.15)])
@pytest.mark.parametrize("tasks", [6, 10])
def test_luck_promotes_no_more_often_than_stated(tasks: int, rate: float, spread: float) -> None:
    chance = random.Random(1000 * tasks + round(100 * (rate + spread)))
    made = [promoted(suite(chance, tasks, rate, spread), tasks) for _ in range(SUITES)]
    share = sum(shown for _, shown in made) / SUITES
    assert share <= STATED + 3 * (STATED * (1 - STATED) / SUITES) ** 0.5
    assert sum(shown for _, shown in made) <= sum(literal for literal, _ in made)


@pytest.mark.slow
def test_without_the_test_luck_promotes_far_more_often() -> None:
    chance = random.Random(7)
    made = [promoted(suite(chance, 6, 1.0, 0.15), 6) for _ in range(SUITES)]
    literal, shown = (sum(each[place] for each in made) / SUITES for place in (0, 1))
    assert literal > 2 * STATED > 2 * shown


@pytest.mark.slow
def test_a_true_saving_is_promoted() -> None:
    chance = random.Random(8)
    made = []
    for _ in range(30):
        rows = suite(chance, 10, 1.0, 0.1)
        cheaper = [row | {"cost_usd": row["cost_usd"] * 0.7} if row["arm"] == "candidate" else row for row in rows]
        made.append(promoted(cheaper, 10)[1])
    assert sum(made) >= 27


REVIEWED = 8
"""Tasks of a suite of reviews, with three runs of each arm."""


@pytest.mark.slow
@pytest.mark.parametrize("varying", [0.2, 0.5, 1.0])
def test_luck_promotes_no_more_reviews_than_stated(varying: float) -> None:
    chance = random.Random(round(100 * varying))
    made = [promoted(reviews(chance, REVIEWED, varying), REVIEWED, gate_review.judge) for _ in range(SUITES)]
    shown = sum(each for _, each in made)
    stated = STATED / 2  # by one measure alone
    assert shown <= SUITES * stated + 3 * (SUITES * stated * (1 - stated)) ** 0.5
    assert shown <= sum(literal for literal, _ in made)


@pytest.mark.slow
def test_without_the_test_a_lucky_review_promotes_far_more_often_and_a_true_gain_is_promoted_with_it() -> None:
    chance = random.Random(9)
    lucky = [promoted(reviews(chance, REVIEWED, 0.2), REVIEWED, gate_review.judge) for _ in range(SUITES)]
    literal, shown = (sum(each[place] for each in lucky) / SUITES for place in (0, 1))
    assert literal > 2 * STATED > 2 * shown
    better = [promoted(reviews(chance, REVIEWED, 0.5, gain=0.2), REVIEWED, gate_review.judge)[1] for _ in range(30)]
    assert sum(better) >= 20
