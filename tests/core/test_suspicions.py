"""Alarms and warnings across cells: the same patch from two arms, exclusions on one arm only, tasks that prove nothing."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core import suspicions


def row(arm: str, run: int = 0, role: str = "comparator", **fields: Any) -> dict[str, Any]:
    return {"task": "t", "arm": arm, "run": run, "role": role, "state": "final", "resolved": False} | fields


def same(arm: str, run: int = 0, **fields: Any) -> dict[str, Any]:
    return row(arm, run, **{"churn_digest": "b3:1", "diff_files": 1} | fields)


def test_the_same_patch_from_two_arms_is_an_alarm() -> None:
    """Failure mode 18: one arm found another arm's finished branch and handed in the same change."""
    (alarm,) = suspicions.identical_churn([same("a"), same("b", 2), row("c", churn_digest="b3:2", diff_files=1)])
    assert (alarm["kind"], alarm["task"], alarm["arms"]) == ("identical-churn", "t", ["a", "b"])
    assert "a/0, b/2" in alarm["detail"]


@pytest.mark.parametrize(
    "other",
    [
        same("a", 1),
        same("b", role="calibration"),
        same("b", replayed=True),
        same("b", task="u"),
        same("b", diff_files=0),
        same("b", churn_digest="b3:2"),
    ],
)
def test_no_alarm_within_an_arm_for_calibration_replay_or_another_task(other: dict[str, Any]) -> None:
    assert suspicions.identical_churn([same("a"), other]) == []


def test_two_arms_that_changed_nothing_are_no_alarm() -> None:
    assert suspicions.identical_churn([same("a", diff_files=0), same("b", diff_files=0)]) == []


def kinds(rows: list[dict[str, Any]]) -> list[str]:
    return [warning["kind"] for warning in suspicions.warnings(rows)]


def test_exclusions_on_one_arm_only_are_lopsided() -> None:
    assert kinds([row("a"), row("b", error_kind="infra-error")]) == ["lopsided-exclusions"]
    assert kinds([row("a"), row("b", state="not_run")]) == ["lopsided-exclusions"]
    assert kinds([row("a", error_kind="session-error"), row("b", error_kind="infra-error")]) == []
    assert kinds([row("a"), row("nop", role="calibration", error_kind="infra-error")]) == []


def test_a_small_difference_between_arms_that_all_lost_runs_is_not() -> None:
    rows = [
        row(arm, run, error_kind="session-error" if run < lost else None)
        for arm, lost in (("a", 2), ("b", 3))
        for run in range(20)
    ]
    assert kinds(rows) == []
    assert kinds([*rows, *(row("b", run, error_kind="session-error") for run in range(20, 23))]) == ["lopsided-exclusions"]


def test_different_backings_and_models_are_named() -> None:
    (warning,) = suspicions.warnings([row("a", backing="overlay"), row("b", backing="copy")])
    assert warning == {"kind": "different-backing", "detail": "not all cells had the same backing (a: overlay, b: copy)"}
    assert kinds([row("a", model="m"), row("a", 1, model="n"), row("b")]) == ["different-model"]


def calibrated(nop: bool | None, gold: bool | None, resolved: bool = True) -> str:
    rows = [
        row("nop", role="calibration", oracle_passed=nop),
        row("gold", role="calibration", oracle_passed=gold, resolved=resolved),
    ]
    found = suspicions.calibration(rows, {})
    assert (found["why"] is None) == (found["calibration"] == "separates")
    return str(found["calibration"])


def test_an_oracle_must_tell_nop_from_gold() -> None:
    assert calibrated(False, True) == "separates"
    assert calibrated(True, True) == "broken"
    assert calibrated(False, False, resolved=False) == "broken"
    assert calibrated(False, True, resolved=False) == "broken"
    assert calibrated(None, True) == "unproven"


def test_a_task_without_valid_calibration_is_unproven() -> None:
    assert suspicions.calibration([], {}) == {"calibration": "unproven", "why": "no valid cell of nop and gold"}
    lost = [row("nop", role="calibration", oracle_passed=False), row("gold", role="calibration", error_kind="infra-error")]
    assert suspicions.calibration(lost, {})["why"] == "no valid cell of gold"


def test_calibration_arms_are_known_by_engine_not_by_name() -> None:
    rows = [
        row("nothing", role="calibration", oracle_passed=True),
        row("answer", role="calibration", oracle_passed=True, resolved=True),
    ]
    found = suspicions.calibration(rows, {"nothing": "nop", "answer": "gold"})
    assert found == {"calibration": "broken", "why": "its oracle passes without any change (nop)"}
