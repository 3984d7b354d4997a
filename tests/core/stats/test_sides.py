"""A side counts every planned run, and two sides that lost or bought unequally are said to."""

from __future__ import annotations

import pytest

from bench.core.stats.sides import lopsided, side
from tests.core.stats.suites import row, rows


def test_every_planned_run_is_counted_and_the_price_of_one_is_the_median() -> None:
    mine = [
        row("a", "t", 0, resolved=True, cost_usd=1.0),
        row("a", "t", 1, cost_usd=3.0, replayed=True),
        row("a", "t", 2, error_kind="infra-error", cost_usd=90.0, attempts=2),
        row("a", "t", 3, state="not_run"),
    ]
    found = side(mine)
    assert (found["planned"], found["attempts"], found["valid"], found["excluded"], found["not_run"]) == (4, 4, 2, 1, 1)
    assert (found["median_cost_usd"], found["replayed"], found["error_kinds"]) == (2.0, 1, {"infra-error": 1})
    assert side([])["arm"] is None


def test_rows_of_two_arms_are_refused() -> None:
    with pytest.raises(ValueError, match="rows of one arm were expected, not of a, b"):
        side([row("a", "t", 0), row("b", "t", 0)])


def test_equal_losses_are_not_lopsided_and_unequal_ones_are() -> None:
    good, lost = rows("a", [(3, 3)] * 4), rows("b", [(3, 3)] * 4)
    assert lopsided(side(good), side(lost)) == []
    lost[0] |= {"error_kind": "session-error"}
    assert lopsided(side(good), side(lost)) == [
        "runs excluded as no evidence differ: 0 of 12 of a, 1 of 12 of b; what is left may favour one of them"
    ]
    lost[0] |= {"error_kind": None, "state": "not_run"}
    assert "not run differ" in lopsided(side(good), side(lost))[0]
    assert "12 runs of a were planned and 11 of b" in lopsided(side(good), side(lost[1:]))[0]


def test_buying_again_more_often_is_said() -> None:
    good, tried = rows("a", [(3, 3)]), rows("b", [(3, 3)], attempts=2)
    assert lopsided(side(good), side(tried)) == [
        "sessions bought again differ: 0 of a, 3 of b; whoever tries more often looks better"
    ]
