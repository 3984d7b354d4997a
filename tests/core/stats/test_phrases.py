"""Numbers are written for people: signs where they matter, no false precision, units always."""

from __future__ import annotations

from bench.core.stats import phrases


def test_sizes_spans_and_chances() -> None:
    assert phrases.span((-4.04, 31.2), "points") == "−4.0 to +31.2 points"
    assert phrases.span((0.0, 0.1234), "score") == "0.000 to +0.123"
    assert [phrases.chance(p) for p in (0.0002, 0.0312, 0.5)] == ["p < 0.001", "p = 0.031", "p = 0.50"]
    assert phrases.amount(-12.34, "percent") == "12.3 %"


def test_gains_say_which_way() -> None:
    assert phrases.gain(12.3, "percent") == "12.3 % less"
    assert phrases.gain(-12.3, "percent") == "12.3 % more"
    assert phrases.gain(0.01, "percent") == "the same"
    assert phrases.gain(-5.0, "points") == "−5.0 points"
    assert phrases.gain(0.25, "score") == "+0.250"


def test_levels_and_names() -> None:
    assert phrases.level(0.5, "resolved") == "50.0 %"
    assert phrases.level(0.0123, "cost_usd") == "$0.0123"
    assert phrases.level(12345.0, "output_tokens") == "12,345"
    assert phrases.level(None, "cost_usd") == "n/a"
    assert [phrases.label(name) for name in ("cost_usd", "output_tokens", "review_recall")] == [
        "Cost",
        "Output tokens",
        "Recall",
    ]


def test_plans_name_runs_tasks_and_dollars() -> None:
    plan = {"target": 10.0, "runs_per_task": 9, "tasks_needed": None, "more_runs": 144, "usd": 12.0}
    assert phrases.plan(plan) == "9 runs per task and arm: 144 more runs of both arms, about $12.00"
    plan |= {"runs_per_task": None, "tasks_needed": 40, "more_runs": 1, "usd": None}
    assert phrases.plan(plan) == "40 tasks: 1 more run of both arms, at an unknown cost"
    assert phrases.plan(plan | {"more_runs": None}) == "no affordable number of runs"
