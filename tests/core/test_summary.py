"""The console's lines: counts first, then the table of arms, then one line per doubt."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.core import aggregate, comparison, health, summary


def row(arm: str, role: str, run: int, **fields: Any) -> dict[str, Any]:
    return {
        "task": "t",
        "class": "trivial",
        "arm": arm,
        "role": role,
        "run": run,
        "state": "final",
        "resolved": False,
    } | fields


def said(*rows: dict[str, Any], runs: int = 3, skipped: tuple[str, ...] = ()) -> list[summary.Line]:
    body = aggregate.merged([aggregate.of_task({"task": "t", "class": "trivial"}, rows)], skipped)
    return summary.said("demo", comparison.arms(body, health.judge(body["arms"]), {}), body, runs)


def lines(*rows: dict[str, Any], **more: Any) -> list[str]:
    return summary.lines(said(*rows, **more))


def test_the_arms_stand_side_by_side() -> None:
    found = lines(
        row("incumbent", "incumbent", 0, cost_usd=0.5),
        row("candidate", "candidate", 0, cost_usd=0.25, resolved=True),
    )
    assert found[0] == "demo: 2 of 2 cells measured"
    assert found[1].split() == [
        "arm",
        "role",
        "state",
        "resolved",
        "excluded",
        "not",
        "run",
        "cost",
        "vs",
        "resolved",
        "cost",
    ]
    assert found[3].split() == [
        "candidate",
        "candidate",
        "OBSERVED_OK",
        "1/1",
        "0",
        "0",
        "$0.2500",
        "incumbent",
        "+100.0",
        "points",
        "−50.0",
        "%",
    ]
    assert len({line.index("  ", 11) for line in found[2:4]}) == 1


def test_an_incomplete_suite_one_run_replay_and_skipped_tasks_are_said() -> None:
    found = lines(
        row("a", "incumbent", 0, replayed=True), row("a", "incumbent", 1, state="not_run"), runs=1, skipped=("slow",)
    )
    assert found[0] == "demo: 1 of 2 cells measured (incomplete 1 of 2)"
    assert summary.DIAGNOSTIC in found
    assert any(line.startswith("replayed from recordings: spent $0") for line in found)
    assert found[-1] == "skipped as expensive: slow (expensive=1 runs them)"


def test_warnings_alarms_and_broken_tasks_have_a_line_each() -> None:
    found = lines(
        row("a", "incumbent", 0, error_kind="infra-error", alarms=[{"kind": "history-probing", "detail": "git log --all"}]),
        row("b", "comparator", 0),
        row("nop", "calibration", 0, oracle_passed=True),
    )
    assert [line for line in found if line.startswith("warning: ")]
    assert "alarm: history-probing on t: git log --all" in found
    assert "broken task t: its oracle passes without any change (nop)" in found


@pytest.mark.parametrize(("value", "text"), [(1.5, "+1.5 %"), (-3, "−3.0 %"), (0.0, "±0 %"), (None, "–")])
def test_changes_carry_their_sign(value: float | None, text: str) -> None:
    assert summary.signed(value, "%") == text


SAID = json.loads(
    json.dumps(
        said(
            row("incumbent", "incumbent", 0, cost_usd=0.5),
            row("candidate", "candidate", 0, cost_usd=0.25, resolved=True),
            runs=1,
        )
    )
)
"""As it stands in a report's record."""
WIDE = summary.lines(SAID)


@pytest.mark.parametrize("columns", [None, 200, max(map(len, WIDE))])
def test_a_table_that_fits_is_left_alone(columns: int | None) -> None:
    assert summary.lines(SAID, columns) == WIDE


@pytest.mark.parametrize("columns", range(22, 90, 4))
def test_a_narrow_terminal_loses_columns_and_no_line(columns: int) -> None:
    found = summary.lines(SAID, columns)
    assert len(found) == len(WIDE)
    table = found[1:4]
    assert max(map(len, table)) <= columns
    assert [line.split()[0] for line in table] == ["arm", "incumbent", "candidate"]
    assert "resolved" in table[0]
    assert "1/1" in table[2]
    assert [found[0], *found[4:]] == [WIDE[0], *WIDE[4:]]


def test_lines_without_a_table_are_left_alone() -> None:
    assert summary.lines(["demo: nothing"], 5) == ["demo: nothing"]
