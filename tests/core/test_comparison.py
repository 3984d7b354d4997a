"""Arms side by side: the right reference, rates over valid runs, unknown differences stay unknown, reasons kept apart."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core import aggregate, comparison, health, medians

ROLES = {"nop": "calibration", "baseline": "comparator", "old": "incumbent", "older": "incumbent", "new": "candidate"}


@pytest.mark.parametrize(
    ("arm", "of", "reference"),
    [("new", {"new": "older"}, "older"), ("new", {}, "old"), ("baseline", {}, "old"), ("old", {}, None), ("nop", {}, None)],
)
def test_the_arm_that_an_arm_is_compared_with(arm: str, of: dict[str, str | None], reference: str | None) -> None:
    assert comparison.reference_of(arm, ROLES, of) == reference


def row(arm: str, role: str, run: int, task: str = "t", **fields: Any) -> dict[str, Any]:
    return {
        "task": task,
        "class": "trivial",
        "arm": arm,
        "role": role,
        "run": run,
        "state": "final",
        "resolved": False,
    } | fields


def whole(*rows: dict[str, Any]) -> dict[str, Any]:
    tasks = dict.fromkeys(r["task"] for r in rows)
    parts = [aggregate.of_task({"task": t, "class": "trivial"}, [r for r in rows if r["task"] == t]) for t in tasks]
    return aggregate.merged(parts, [])


def arms(body: dict[str, Any]) -> dict[str, Any]:
    return {arm["name"]: arm for arm in comparison.arms(body, health.judge(body["arms"]), {})}


def test_differences_are_over_valid_runs_and_the_median_task() -> None:
    body = whole(
        *(row("old", "incumbent", run, resolved=run == 0, cost_usd=1.0) for run in range(2)),
        row("old", "incumbent", 2, error_kind="session-error"),
        *(row("new", "candidate", run, resolved=True, cost_usd=0.75) for run in range(3)),
    )
    found = arms(body)["new"]
    assert (found["against"], found["resolved_points"], found["cost_saved_pct"]) == ("old", 50.0, 25.0)
    assert (found["cost_usd"], found["cost_text"]) == (2.25, "$2.2500")
    old = arms(body)["old"]
    assert old["cost_usd"] is None
    assert old["cost_text"] == "at least $2.0000 (1 of 3 unmeasured)"
    assert (old["planned"], old["valid"], old["excluded"]) == (3, 2, 1)


def test_arms_are_compared_over_the_tasks_that_both_run() -> None:
    body = whole(
        row("old", "incumbent", 0, task="t", resolved=True),
        row("old", "incumbent", 0, task="u"),
        row("few", "comparator", 0, task="t", resolved=True),
    )
    assert arms(body)["few"]["resolved_points"] == 0.0
    apart = whole(row("old", "incumbent", 0, task="u"), row("few", "comparator", 0, task="t", resolved=True))
    assert arms(apart)["few"]["resolved_points"] is None


def test_one_task_without_a_cost_leaves_the_difference_unknown() -> None:
    body = whole(
        row("old", "incumbent", 0, cost_usd=1.0),
        row("new", "candidate", 0, cost_usd=0.5),
        row("old", "incumbent", 0, "u", cost_usd=1.0),
        row("new", "candidate", 0, "u"),
    )
    assert arms(body)["new"]["cost_saved_pct"] is None


def test_a_cell_table_keeps_classes_in_order_and_absent_arms_absent() -> None:
    small = aggregate.of_task({"task": "s", "class": "trivial"}, [row("old", "incumbent", 0, "s")])
    large = aggregate.of_task({"task": "l", "class": "cross-module"}, [row("new", "candidate", 0, "l")])
    found = comparison.table(aggregate.merged([large, small], []), {})
    assert [group["class"] for group in found] == ["trivial", "cross-module"]
    assert found[1]["tasks"][0]["cells"]["new"]["against"] is None


def test_kinds_and_classes_of_exclusions_are_kept_apart() -> None:
    body = whole(
        row("old", "incumbent", 0, error_kind="infra-error", error_class="setup-timeout", reason="setup took 120 s"),
        row("old", "incumbent", 1, error_kind="infra-error", error_class="verifier-timeout", reason="verify took 120 s"),
        row("old", "incumbent", 2, error_kind="session-error", error_class="session-error"),
        row("old", "incumbent", 3, error_kind="oracle-failed"),
        row("old", "incumbent", 4, state="not_run", reason="outage"),
        row("old", "incumbent", 5, error_kind="oracle-failed", review_evidence_valid=False),
    )
    found = [(entry["kind"], entry["class"], entry["count"], entry["of"]) for entry in comparison.exclusions(body)]
    assert found == [
        ("infra-error", "setup-timeout", 1, 6),
        ("infra-error", "verifier-timeout", 1, 6),
        ("not run", "", 1, 6),
        ("review-evidence-invalid", "", 1, 6),
        ("session-error", "", 1, 6),
    ]


def test_an_excluded_run_that_resolved_raises_no_rate() -> None:
    counted = medians.counts([row("a", "x", 0, resolved=True, error_kind="cleanup-failure"), row("a", "x", 1)], [])
    assert counted["resolved"] == 1
    assert medians.rate(counted) == 0.0
    assert medians.rate(medians.counts([], [])) is None
