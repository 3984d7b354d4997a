"""At a true difference of zero, the statistical policy promotes no more often than its test states."""

from __future__ import annotations

import random

import pytest

from bench.core import stats
from tests.core.promotions import Row, arms, decided

SUITES = 120
STATED = 0.025
"""One-sided rate of a two-sided test at 5 % (`bench.core.stats`)."""


def nothing_changed(draw: random.Random, tasks: int = 8) -> list[Row]:
    """Two arms that are one and the same: every run is solved, and its cost varies from task to task and run to run."""
    rows: list[Row] = []
    for number in range(tasks):
        typical = draw.lognormvariate(0, 0.5)
        sides = [[{"cost_usd": round(typical * draw.lognormvariate(0, 0.12), 6)} for _ in range(3)] for _ in range(2)]
        rows += arms(f"t{number}", *sides)
    return rows


@pytest.mark.slow
def test_the_gate_and_its_test_keep_to_the_stated_rate() -> None:
    draw = random.Random(20261130)
    promoted = {"reference": 0, "statistical": 0}
    for _ in range(SUITES):
        rows = nothing_changed(draw)
        compared = stats.compare(
            [row for row in rows if row["arm"] == "candidate"],
            [row for row in rows if row["arm"] == "incumbent"],
            ["resolved", "cost_usd"],
        )
        for policy in promoted:
            promoted[policy] += decided(rows, thresholds={"policy": policy}, statistics=compared) == "promote"
    # Three expected of 120; eight or more would have a chance below 2 % at the stated rate.
    assert promoted["statistical"] <= SUITES * STATED + 4
    assert promoted["reference"] > 2 * promoted["statistical"], "the thresholds alone are what noise passes"
