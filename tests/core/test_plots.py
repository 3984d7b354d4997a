"""Coordinates: bars fill the planned runs, unknown costs have no mark, ticks are round."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core import plots


def arm(**counts: int) -> dict[str, Any]:
    return {"name": "a", "role": "incumbent", "planned": 8, "valid": 5, "resolved": 3, "excluded": 2, "not_run": 1} | counts


def test_a_bar_holds_every_planned_run() -> None:
    plot = plots.outcome([arm()])
    assert plot
    parts = plot["rows"][0]["parts"]
    assert [(part["kind"], part["count"]) for part in parts] == [
        ("resolved", 3),
        ("unresolved", 2),
        ("excluded", 2),
        ("not_run", 1),
    ]
    assert sum(part["width"] for part in parts) == pytest.approx(plots.WIDTH - plots.LABEL - plots.RIGHT, abs=0.1)


def test_calibration_is_not_in_the_race_and_no_arm_is_no_plot() -> None:
    assert plots.outcome([arm(role="calibration")]) is None
    empty = plots.outcome([arm(planned=0, valid=0, resolved=0, excluded=0, not_run=0)])
    assert empty
    assert empty["rows"][0]["parts"] == []


def aggregate(*costs: float | None) -> dict[str, Any]:
    rows = [
        {"task": "t", "arm": "a", "role": "incumbent", "run": run, "resolved": run == 0, "state": "final"}
        | ({} if cost is None else {"cost_usd": cost})
        for run, cost in enumerate(costs)
    ]
    group = {"task": "t", "arm": "a", "role": "incumbent", "medians": {"cost_usd": costs[1]}}
    return {"rows": rows, "groups": [group]}


def test_one_dot_per_known_cost_and_no_median_over_unknown_ones() -> None:
    plot = plots.costs(aggregate(0.1, None, 0.3), ["t"])
    assert plot
    row = plot["blocks"][0]["rows"][0]
    assert [(dot["run"], dot["cost"], dot["resolved"]) for dot in row["dots"]] == [(0, 0.1, True), (2, 0.3, False)]
    assert row["median"] is None
    assert row["dots"][0]["x"] < row["dots"][1]["x"]


@pytest.mark.parametrize("top", [0.0001, 0.0213, 0.0876, 0.3, 1.0, 7.5, 99.0, 3653.0])
def test_ticks_are_few_and_reach_the_largest_cost(top: float) -> None:
    plot = plots.costs(aggregate(top, top, top), ["t"])
    assert plot
    assert 3 <= len(plot["ticks"]) <= 9
    assert plot["ticks"][0]["x"] == plots.LABEL
    assert plot["blocks"][0]["rows"][0]["dots"][0]["x"] <= plot["ticks"][-1]["x"] <= plots.WIDTH - plots.RIGHT + 0.1
    assert len({tick["text"] for tick in plot["ticks"]}) == len(plot["ticks"])


def test_no_costs_no_plot_and_free_is_not_drawn() -> None:
    assert plots.costs(aggregate(None, None, None), ["t"]) is None
    assert plots.costs(aggregate(0.0, 0.0, 0.0), ["t"]) is None


def test_only_the_first_tasks_are_drawn() -> None:
    plot = plots.costs(aggregate(1.0, 1.0, 1.0), ["t", *(f"u{i}" for i in range(plots.MOST_TASKS))])
    assert plot
    assert plot["left_out"] == 1


def test_differences_stand_at_their_points_and_have_a_line_only_with_an_interval() -> None:
    def pair(gain: float | None, interval: list[float] | None) -> dict[str, Any]:
        measure = {"improvement": gain, "interval": interval}
        return {
            "a": "new",
            "b": "old",
            "rows": [{"gain": "x", "verdict": "even"}],
            "found": {"measures": {"resolved": measure}},
        }

    found = plots.differences([pair(20.0, [-5.0, 45.0]), pair(-50.0, None), pair(None, None)])
    assert found is not None
    assert len(found["rows"]) == 2
    first, second = found["rows"]
    assert first["low"] < found["zero"] < first["at"] < first["high"]
    assert (second["low"], second["high"]) == (None, None)
    assert second["at"] == plots.LABEL
    assert [tick["text"] for tick in found["ticks"]] == ["−50", "−25", "0", "+25", "+50"]
    assert plots.differences([pair(None, None)]) is None
