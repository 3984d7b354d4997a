"""Alarms and warnings across cells: the same patch from two arms, exclusions on one arm only, tasks that prove nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


ROWS = st.lists(
    st.builds(
        row,
        st.sampled_from(["a", "b", "c"]),
        st.integers(0, 3),
        churn_digest=st.sampled_from(["b3:1", "b3:2"]),
        diff_files=st.integers(0, 1),
        task=st.sampled_from(["t", "u"]),
        error_kind=st.sampled_from([None, None, "infra-error", "oracle-failed"]),
        backing=st.sampled_from(["overlay", "copy"]),
        state=st.sampled_from(["final", "final", "not_run"]),
    ),
    max_size=8,
)


@given(ROWS, st.randoms(use_true_random=False))
def test_what_is_suspicious_is_so_in_any_order_and_of_every_pair_of_arms(rows: list[dict[str, Any]], luck: Any) -> None:
    mixed = luck.sample(rows, len(rows))
    assert kinds(mixed) == kinds(rows)
    said = {(alarm["task"], frozenset(alarm["arms"])) for alarm in suspicions.identical_churn(rows)}
    assert said == {(alarm["task"], frozenset(alarm["arms"])) for alarm in suspicions.identical_churn(mixed)}
    for alarm in suspicions.identical_churn(rows):
        assert len(alarm["arms"]) > 1
    for one in rows:
        for other in rows:
            alike = (
                all(one[name] == other[name] for name in ("task", "churn_digest"))
                and one["diff_files"]
                and other["diff_files"]
            )
            if alike and one["arm"] != other["arm"]:
                assert any(task == one["task"] and {one["arm"], other["arm"]} <= arms for task, arms in said)
    alone = [each for each in rows if each["arm"] == "a"]
    assert suspicions.identical_churn(alone) == []
    assert "lopsided-exclusions" not in kinds(alone)


@given(st.lists(st.tuples(st.sampled_from(["nop", "gold"]), st.booleans() | st.none(), st.booleans()), max_size=5))
def test_a_task_separates_only_if_no_calibration_speaks_against_it(found: list[tuple[str, bool | None, bool]]) -> None:
    rows = [row(arm, at, "calibration", oracle_passed=passed, resolved=well) for at, (arm, passed, well) in enumerate(found)]
    said = suspicions.calibration(rows, {})["calibration"]
    against = ("nop", True) in [each[:2] for each in found] or any(
        arm == "gold" and False in (passed, well) for arm, passed, well in found
    )
    assert (said == "broken") == against
    if said == "separates":
        assert {arm for arm, _, _ in found} == {"nop", "gold"}
