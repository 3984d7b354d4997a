"""Savings against the baseline: unknown stays unknown, unresolved sides are flagged, the turning point is told."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core import savings


def group(task: str, arm: str, cost: float | None, resolved: int = 3, cls: str = "trivial", **more: Any) -> dict[str, Any]:
    role = "calibration" if arm in ("nop", "gold") else "comparator"
    counts = {"planned": 3, "valid": 3, "resolved": resolved, "resolved_valid": resolved}
    medians = {"cost_usd": cost, "output_tokens": None, "input_tokens": 0, "duration_s": 10.0}
    return {"task": task, "class": cls, "arm": arm, "role": role, "medians": medians} | counts | more


@pytest.mark.parametrize(
    ("reference", "value", "percent"),
    [
        (2.0, 1.0, 50.0),
        (1.0, 2.0, -100.0),
        (3.0, 2.0, 33.3),
        (0, 1.0, None),
        (None, 1.0, None),
        (1.0, None, None),
        (1, 1, 0.0),
    ],
)
def test_improvement(reference: float | None, value: float | None, percent: float | None) -> None:
    assert savings.improvement(reference, value) == percent


def test_the_baseline_is_found_by_name_among_comparators() -> None:
    assert savings.baseline_of({"a": "incumbent", "baseline": "comparator"}) == "baseline"
    assert savings.baseline_of({"a": "incumbent", "baseline_nomcp": "comparator"}) == "baseline_nomcp"
    assert savings.baseline_of({"baseline_x": "incumbent", "nop": "calibration"}) is None


def test_rows_leave_out_calibration_and_flag_what_was_not_resolved() -> None:
    groups = [group("t", "nop", None), group("t", "baseline", 2.0, 2), group("t", "lean", 1.0, 3), group("u", "lean", 1.0)]
    (row,) = savings.rows(groups, "baseline")
    assert row["arm"] == "lean"
    assert row["measures"]["cost_usd"] == {"base": 2.0, "arm": 1.0, "saved_pct": 50.0}
    assert row["measures"]["output_tokens"]["saved_pct"] is None
    assert row["measures"]["cache_tokens"]["saved_pct"] is None
    assert row["flags"] == ["baseline resolved 2 of 3"]


def test_classes_come_from_small_to_large_then_as_they_appear() -> None:
    assert savings.class_order(["odd", "cross-module", "trivial", "other", "odd"]) == [
        "trivial",
        "cross-module",
        "odd",
        "other",
    ]


def grouped(*entries: tuple[str, float | None, int]) -> list[dict[str, Any]]:
    groups = []
    for place, (cls, cost, resolved) in enumerate(entries):
        groups += [group(f"t{place}", "baseline", 1.0, cls=cls), group(f"t{place}", "lean", cost, resolved, cls)]
    return savings.by_class(savings.rows(groups, "baseline"))


def test_it_is_told_where_a_cheaper_arm_stops_winning() -> None:
    found = grouped(("cross-module", 1.5, 3), ("trivial", 0.5, 3), ("investigation-bug", 0.8, 3))
    assert savings.turning_points(found, "baseline") == [
        "lean is cheaper than baseline in trivial, investigation-bug; it stops winning at cross-module (50 % dearer)"
    ]


def test_cheaper_while_resolving_less_is_no_win() -> None:
    found = grouped(("trivial", 0.5, 2))
    assert savings.turning_points(found, "baseline") == [
        "lean is in no class cheaper than baseline without resolving less (trivial: resolves less on t0)"
    ]


def test_everywhere_nowhere_and_unknown() -> None:
    assert "in every class" in savings.turning_points(grouped(("trivial", 0.5, 3)), "baseline")[0]
    assert savings.turning_points(grouped(("trivial", None, 3)), "baseline") == [
        "what lean costs against baseline is not known"
    ]
    half = savings.turning_points(grouped(("trivial", 0.5, 3), ("cross-module", None, 3)), "baseline")
    assert half == ["lean is cheaper than baseline in trivial; it stops winning at cross-module (cost unknown)"]
    late = savings.turning_points(grouped(("trivial", 2.0, 3), ("cross-module", 0.5, 3)), "baseline")
    assert late == ["lean is cheaper than baseline in cross-module; it does not win at trivial (100 % dearer)"]
