"""Savings against the baseline: unknown stays unknown, unresolved sides are flagged, the turning point is told."""

from __future__ import annotations

from typing import Any

from bench.core import savings


def group(task: str, arm: str, cost: float | None, resolved: int = 3, cls: str = "trivial", **more: Any) -> dict[str, Any]:
    role = "calibration" if arm in ("nop", "gold") else "comparator"
    counts = {"planned": 3, "valid": 3, "resolved": resolved, "resolved_valid": resolved}
    medians = {"cost_usd": cost, "output_tokens": None, "input_tokens": 0, "duration_s": 10.0}
    return {"task": task, "class": cls, "arm": arm, "role": role, "medians": medians} | counts | more


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


def grouped(*entries: tuple[str, float | None, int], base: int = 3) -> list[dict[str, Any]]:
    groups = []
    for place, (cls, cost, resolved) in enumerate(entries):
        groups += [group(f"t{place}", "baseline", 1.0, base, cls), group(f"t{place}", "lean", cost, resolved, cls)]
    return savings.by_class(savings.rows(groups, "baseline"))


def lines(*entries: tuple[str, float | None, int], base: int = 3) -> list[str]:
    return savings.turning_points(grouped(*entries, base=base), "baseline")


def test_it_is_told_where_a_cheaper_arm_stops_winning() -> None:
    assert lines(("cross-module", 0.9, 2), ("trivial", 0.5, 3), ("investigation-bug", 0.8, 3)) == [
        "lean is cheaper than baseline; it wins in trivial, investigation-bug and stops winning at cross-module "
        "(lean 2/3, baseline 3/3, lean 10 % cheaper)"
    ]


def test_it_is_told_of_the_baseline_where_that_is_the_cheaper_one() -> None:
    assert lines(("trivial", 1.5, 3), ("cross-module", 1.5, 3), base=3) == [
        "baseline is cheaper than lean and wins in every class measured (trivial, cross-module)"
    ]
    assert lines(("trivial", 1.5, 3), base=1) == [
        "baseline is cheaper than lean but wins in no class (trivial: lean 3/3, baseline 1/3, lean 50 % dearer)"
    ]


def test_a_cheaper_arm_that_resolves_less_does_not_win() -> None:
    assert lines(("trivial", 0.5, 2)) == [
        "lean is cheaper than baseline but wins in no class (trivial: lean 2/3, baseline 3/3, lean 50 % cheaper)"
    ]


def test_winning_late_unknown_and_equal_costs() -> None:
    assert "it wins in cross-module and does not win at trivial" in lines(("trivial", 0.5, 2), ("cross-module", 0.5, 3))[0]
    assert lines(("trivial", None, 3)) == ["what lean costs against baseline is not known"]
    assert lines(("trivial", 1.0, 3)) == ["lean and baseline cost the same"]
    assert (
        "stops winning at cross-module (lean 3/3, baseline 3/3, lean cost unknown)"
        in (lines(("trivial", 0.5, 3), ("cross-module", None, 3))[0])
    )


def test_shares_are_of_valid_runs_and_nothing_is_won_without_any() -> None:
    groups = [group("t", "baseline", 1.0), group("t", "lean", 0.5, valid=0, resolved_valid=0)]
    (entry,) = savings.by_class(savings.rows(groups, "baseline"))
    assert entry["arms"]["lean"]["winner"] is None
    groups = [group("t", "baseline", 1.0, 2, valid=2), group("t", "lean", 0.5, 3)]
    (entry,) = savings.by_class(savings.rows(groups, "baseline"))
    assert entry["arms"]["lean"]["winner"] == "arm"


def test_what_costs_nothing_saves_nothing() -> None:
    free, paid, unknown = group("t", "free", 0.0), group("t", "paid", 2.0), group("t", "unknown", None)
    for pair in ((free, paid), (paid, free), (free, free), (paid, unknown), (unknown, paid)):
        assert savings.saved("cost_usd", *pair) is None
    assert savings.saved("cost_usd", paid, group("t", "x", 1.0)) == 50.0
    [row] = savings.rows([group("t", "baseline", 2.0), free], "baseline")
    assert row["measures"]["cost_usd"]["saved_pct"] is None
    [entry] = savings.by_class([row])
    assert (entry["arms"]["free"]["saved_pct"], entry["arms"]["free"]["winner"]) == (None, None)
