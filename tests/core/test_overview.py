"""The first page's view: what a reader must know stands before the numbers, worst first."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core import aggregate, health, overview, summary
from bench.core.suspicions import BROKEN

ARMS = [{"name": "old", "role": "incumbent", "of": None}, {"name": "new", "role": "candidate", "of": "old"}]


def row(arm: str, role: str, run: int = 0, **fields: Any) -> dict[str, Any]:
    return {
        "task": "t",
        "class": "trivial",
        "arm": arm,
        "role": role,
        "run": run,
        "state": "final",
        "resolved": False,
    } | fields


def view(*rows: dict[str, Any], runs: int = 3, skipped: tuple[str, ...] = ()) -> dict[str, Any]:
    body = aggregate.merged([aggregate.of_task({"task": "t", "class": "trivial"}, rows)], skipped)
    judged = health.judge(body["arms"], [task for task in body["tasks"] if task["calibration"] == BROKEN])
    stems = {(r["task"], r["arm"], r["run"]): f"{r['arm']}-{r['run']}" for r in rows}
    return overview.build({"suite": "s", "arms": ARMS, "runs": runs}, body, judged, stems)


def titles(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(notice["level"], notice["title"]) for notice in found["notices"]]


GOOD = (row("nop", "calibration", oracle_passed=False), row("gold", "calibration", oracle_passed=True, resolved=True))


def test_a_clean_suite_has_no_notice_and_a_headline_per_candidate() -> None:
    found = view(*GOOD, row("old", "incumbent"), row("new", "candidate", resolved=True))
    assert found["notices"] == []
    assert [(h["arm"]["name"], h["against"]["name"]) for h in found["headlines"]] == [("new", "old")]
    assert found["table"][0]["tasks"][0]["cells"]["new"]["marks"] == [
        {"run": 0, "page": "new-0", "verdict": "resolved", "error_kind": None, "alarms": 0}
    ]


def test_every_doubt_is_a_notice_worst_first() -> None:
    found = view(
        row("nop", "calibration", oracle_passed=True),
        row("old", "incumbent", error_kind="session-error"),
        row("old", "incumbent", 1, state="not_run"),
        row("new", "candidate", replayed=True, alarms=[{"kind": "k", "detail": "d"}]),
        runs=1,
        skipped=("slow",),
    )
    assert titles(found) == [
        ("bad", "Incomplete"),
        ("bad", "Unusable arm"),
        ("bad", "Broken task"),
        ("warn", "Lopsided exclusions"),
        ("warn", "Alarms"),
        ("warn", "Diagnostic only"),
        ("info", "Replayed"),
        ("info", "Skipped as expensive"),
    ]


def test_tasks_without_calibration_are_said_to_be_unproven() -> None:
    assert titles(view(row("old", "incumbent"))) == [("warn", "Unproven tasks")]


def test_no_headline_where_a_side_has_no_evidence() -> None:
    assert view(*GOOD, row("old", "incumbent", error_kind="infra-error"), row("new", "candidate"))["headlines"] == []


def test_savings_need_a_baseline() -> None:
    assert view(*GOOD, row("old", "incumbent"))["savings"] is None
    assert view(*GOOD, row("baseline", "comparator"), row("old", "incumbent"))["savings"]["baseline"] == "baseline"


@pytest.mark.parametrize("cost", [0.0, None])
def test_a_free_or_unpriced_model_is_directional_and_ranks_nothing(cost: float | None) -> None:
    rows = [row("old", "incumbent", cost_usd=2.0, output_tokens=9), row("new", "candidate", cost_usd=cost, output_tokens=9)]
    found = view(*GOOD, *rows)
    assert titles(found) == [("warn", "Directional only")]
    assert found["notices"][0]["detail"].startswith("new: the model is free, or has no row in corpus/prices.json")
    new = next(arm for arm in found["arms"] if arm["name"] == "new")
    assert new["cost_saved_pct"] is None
    body = aggregate.merged([aggregate.of_task({"task": "t", "class": "trivial"}, rows)], ())
    said = summary.said("s", found["arms"], body, 3)
    assert "directional only: new: the model is free, or has no row in corpus/prices.json; its costs rank nothing" in said
