"""One difference per task: the right tasks, the right sign, and unknown stays unknown."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from bench.core.stats import pairs
from tests.core.stats.suites import row, rows


def paired(measure: str, a: list[dict[str, object]], b: list[dict[str, object]]) -> pairs.Paired:
    return pairs.pair(measure, pairs.by_task(a), pairs.by_task(b))


def test_a_task_counts_once_however_many_runs_it_has() -> None:
    found = paired("resolved", rows("a", [(3, 3), (1, 2)]), rows("b", [(1, 3), (4, 8)]))
    assert found.differences == (Fraction(2, 3), Fraction(0))
    assert found.shown(0.25) == 25


def test_excluded_and_held_back_runs_and_lone_tasks_reach_no_difference() -> None:
    a = [*rows("a", [(1, 1)]), row("a", "t000", 1, error_kind="infra-error"), row("a", "t000", 2, state="not_run")]
    b = rows("b", [(0, 1), (1, 1)])
    assert paired("resolved", a, b).differences == (Fraction(1),)


def test_ratios_are_of_medians_and_positive_where_less_was_used() -> None:
    a = [row("a", "t", run, cost_usd=cost) for run, cost in enumerate((1.0, 2.0, 9.0))]
    b = [row("b", "t", run, cost_usd=4.0) for run in range(3)]
    found = paired("cost_usd", a, b)
    assert found.differences == pytest.approx((math.log(2),))
    assert found.shown(found.differences[0]) == pytest.approx(50)


def test_one_unknown_value_makes_the_measure_unknown_and_says_where() -> None:
    a, b = rows("a", [(1, 1), (1, 1)], cost_usd=1.0), rows("b", [(1, 1), (1, 1)], cost_usd=1.0)
    del a[1]["cost_usd"]
    found = paired("cost_usd", a, b)
    assert (found.differences, found.why) == ((), "cost_usd of a run of t001 is not known")
    b[0]["cost_usd"] = 0
    assert "no ratio" in str(paired("cost_usd", rows("a", [(1, 1)], cost_usd=1.0), b[:1]).why)
    assert paired("cost_usd", a, []).why == "no task has valid evidence of both arms"


def test_a_clean_control_has_no_f1_and_is_left_out_but_its_false_positives_count() -> None:
    def review(arm: str, f1: float, false: int) -> list[dict[str, object]]:
        clean = {"review_clean_control": True, "review_false_positives": false}
        return [
            row(arm, "defect", 0, review_weighted_f1=f1, review_false_positives=false),
            row(arm, "clean", 0, **clean),
        ]

    a, b = review("a", 0.8, 0), review("b", 0.5, 2)
    found = paired("review_weighted_f1", a, b)
    assert (found.tasks, found.why) == (("defect",), None)
    assert found.differences == pytest.approx((0.3,))
    assert paired("review_false_positives", a, b).differences == (2, 2)
    del a[0]["review_weighted_f1"]
    assert paired("review_weighted_f1", a, b).why == "review_weighted_f1 of a run of defect is not known"


def test_only_known_measures_have_statistics() -> None:
    with pytest.raises(ValueError, match="no statistics of 'colour'"):
        pairs.unit_of("colour")
