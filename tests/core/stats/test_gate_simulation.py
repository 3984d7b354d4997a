"""Suites without any true difference, put through the promotion gate: how often luck alone promotes.

The literal policy makes no promise; `policy: statistical` lets an improvement count only where it is shown, which at a true
difference of zero happens in at most 2.5 % of suites per measure: 5 % for its two, resolved runs and the metric.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from bench.core import gate, gate_implementation, gate_statistics, promotion_sides
from bench.core.promotion_sides import Measured
from bench.core.rows import where
from bench.core.stats import compare
from tests.core import promotions

STATED = 0.05
SUITES = 250
POLICY = promotions.IMPLEMENTATION | {"policy": gate_statistics.STATISTICAL}


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


def promoted(rows: list[dict[str, Any]], tasks: int) -> tuple[bool, bool]:
    """Whether the literal and whether the statistical policy promotes."""
    found = {where(row): Measured(True, promotions.STAMP, sandbox="bwrap") for row in rows}
    names = [(f"t{task}", "bug") for task in range(tasks)]
    pairs = promotion_sides.pairs(promotions.body(rows), found, names, promotions.ARMS)
    checks = gate_implementation.judge(pairs, POLICY).checks
    if gate.decision(checks) != gate.PROMOTE:
        return False, False
    arms = [[row for row in rows if row["arm"] == arm] for arm in ("candidate", "incumbent")]
    said = compare(*arms, gate_statistics.measures(POLICY))
    return True, gate.decision(gate_statistics.held(checks, said, POLICY)) == gate.PROMOTE


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
