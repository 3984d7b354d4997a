"""What no good figure makes up for: each of these takes a promotion away, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core import calendar
from bench.core.promotion_sides import Measured
from tests.core.promotions import INPUTS, STAMP, Row, arms, calibrated, decided, document, failing, known

GOOD = [{"cost_usd": 1.0}] * 3, [{"cost_usd": 0.5}] * 3


def rows() -> list[Row]:
    return arms("a", *GOOD) + arms("b", *GOOD)


def refused(found: dict[str, Any]) -> set[str]:
    assert found["decision"] == "insufficient_evidence"
    return failing(found, "insufficient")


def test_good_evidence_promotes() -> None:
    assert decided(rows()) == "promote"


def test_a_broken_task_promotes_nothing() -> None:
    broken = calibrated(["a", "b"])
    broken[0]["oracle_passed"] = True
    assert refused(document(rows() + broken)) == {"calibration"}
    worse = calibrated(["a", "b"])
    worse[1] |= {"oracle_passed": False, "resolved": False}
    assert refused(document(rows() + worse)) == {"calibration"}


@pytest.mark.parametrize("arm", ["nop", "gold"])
@pytest.mark.parametrize("state", ["unusable", "not_run"])
def test_a_calibration_that_was_planned_and_gave_no_evidence_promotes_nothing(arm: str, state: str) -> None:
    """Only one that nobody planned is a note: a gold that ends as infra-error may hide a broken oracle."""
    failed = [
        row | {"state": state, "error_kind": "infra-error", "oracle_passed": None} if row["arm"] == arm else row
        for row in calibrated(["a", "b"])
    ]
    found = document(rows() + failed)
    assert "calibration" in refused(found)
    assert any(f"no valid cell of {arm}" in reason for reason in found["decisions"][0]["reasons"])


def test_a_task_without_calibration_is_noted_and_promotes() -> None:
    found = document(rows() + [row for row in calibrated(["a", "b"]) if row["arm"] == "gold"])
    assert found["decision"] == "promote"
    assert any("nothing proves" in reason for reason in found["decisions"][0]["reasons"])


def test_a_decision_on_a_selection_is_shown_and_insufficient() -> None:
    """Leaving out the task or the calibration that says no is no way to a promotion."""
    found = document(rows(), left_out=["arm nop", "task c"])
    assert refused(found) == {"selection"}
    assert found["decisions"][0]["reasons"] == ["the command line leaves out of the suite's file: arm nop, task c"]


def test_a_cell_that_did_not_run_anywhere_aborts_the_sweep() -> None:
    given = rows()
    held = {"task": "a", "class": "bug", "arm": "baseline", "role": "comparator", "run": 0, "state": "not_run"}
    found = document([*given, held | {"resolved": False}])
    assert found["run_status"] == "aborted"
    assert "run_status" in refused(found)


@pytest.mark.parametrize("place", [0, 3])
def test_a_missing_run_is_insufficient(place: int) -> None:
    given = rows()
    given[place] |= {"state": "not_run", "resolved": False}
    assert {"run_status", "missing_runs", "valid_runs", "equal_runs"} <= refused(document(given))


def test_unequal_plans_are_insufficient() -> None:
    assert "planned_runs" in refused(document(arms("a", [{}] * 3, [{"cost_usd": 0.5}] * 4)))


@pytest.mark.parametrize("arm", ["incumbent", "candidate"])
def test_an_arm_missing_for_a_task_is_insufficient(arm: str) -> None:
    given = [row for row in rows() if (row["task"], row["arm"]) != ("b", arm)]
    assert "both_arms" in refused(document(given))


def test_an_unusable_comparator_is_insufficient() -> None:
    dead = [
        row | {"arm": "baseline", "role": "comparator", "error_kind": "session-error", "state": "unusable"}
        for row in rows()[:3]
    ]
    assert "arm_health" in refused(document(rows() + dead, comparators=["baseline"]))


@pytest.mark.parametrize("models", [[None, "m"], ["", "m"], ["  ", "m"], ["m", "other"], [None, None]])
def test_an_unnamed_or_mixed_model_is_insufficient(models: list[str | None]) -> None:
    """Readings 12: null and blank alike."""
    given = rows()
    for row, model in zip(given, models * 6, strict=True):
        row["model"] = model
        if model is None:
            del row["model"]
    found = document(given)
    assert "model" in refused(found)
    assert found["benchmark_model"] is None


def test_mixed_efforts_are_insufficient() -> None:
    given = rows()
    given[0]["effort"] = "high"
    assert "effort" in refused(document(given))


@pytest.mark.parametrize(("attempts", "good"), [(1, True), (2, True), (3, False)])
def test_unequal_attempts_beyond_the_bound_are_insufficient(attempts: int, good: bool) -> None:
    """Re-run until lucky: the default bound is one more than the other arm needed (readings 14)."""
    found = document(rows(), measured={("a", "candidate", 1): known(attempts=attempts)})
    assert (found["decision"] == "promote") == good
    if not good:
        assert refused(found) == {"attempts"}
        again = {("a", "incumbent", 0): known(attempts=attempts)}
        assert decided(rows(), measured={("a", "candidate", 1): known(attempts=attempts)} | again) == "promote"


@pytest.mark.parametrize("measured", [Measured(False), Measured(False, STAMP), Measured(True, None)])
def test_evidence_that_is_lost_or_not_what_was_sealed_is_insufficient(measured: Measured) -> None:
    found = document(rows(), measured={("a", "candidate", 1): measured})
    assert "evidence" in refused(found)
    assert found["evidence"]["lost"] == ["a/candidate/1"]


def test_a_run_that_could_not_be_graded_is_said_to_be_that_and_not_revoked() -> None:
    given = rows()
    given[3] |= {"state": "unusable", "error_kind": "oracle-unavailable", "resolved": False}
    found = document(given, measured={("a", "candidate", 0): known(whole=False)})  # an unusable cell is not in the store
    assert refused(found) == {"graded"}
    assert (found["evidence"]["lost"], found["evidence"]["ungraded"]) == ([], ["a/candidate/0"])
    assert found["decisions"][0]["reasons"][0] == "runs were not graded to the end: a/candidate/0"


@pytest.mark.parametrize(("stamp", "good"), [("2026-08-31T10:00:01Z", True), ("2026-08-31T10:00:00Z", False)])
def test_evidence_too_old_for_the_newest_is_expired(stamp: str, good: bool) -> None:
    """Without a clock: 90 days from the oldest measurement, against the newest one."""
    found = document(rows(), measured={("a", "incumbent", 0): known(measured_at=stamp)})
    assert (found["decision"] == "promote") == good
    assert found["generated_at"] == STAMP
    assert found["evidence_expires_at"] == calendar.later(stamp, 90)
    if not good:
        assert refused(found) == {"age"}


def test_unequal_conditions_are_insufficient() -> None:
    for name in (*INPUTS, "assets", "graph"):
        other = known(inputs=INPUTS | {name: "b3:other"})
        assert refused(document(rows(), measured={("a", "candidate", 2): other})) == {f"same_{name}"}


@pytest.mark.parametrize("arms", [("candidate",), ("incumbent", "candidate")])
@pytest.mark.parametrize(
    ("name", "runs"), [("runtime", (0, 1, 2)), ("runtime", (1,)), ("template", (0, 1, 2)), ("oracle", (2,))]
)
def test_what_a_run_does_not_name_is_not_equal(name: str, runs: tuple[int, ...], arms: tuple[str, ...]) -> None:
    """Failure mode 7: absence is a mismatch, on one side, on both, and within a side."""
    silent = known(inputs={key: content for key, content in INPUTS.items() if key != name})
    found = document(rows(), measured={("a", arm, n): silent for arm in arms for n in runs})
    assert refused(found) == {f"same_{name}"}
    assert any("do not say which" in reason for reason in found["decisions"][0]["reasons"])


def test_only_a_candidate_without_an_overlay_may_have_other_settings() -> None:
    """What is applied is the overlay alone: it does not win by another temperature."""
    every = [("a", "candidate", n) for n in range(3)]
    for inputs in (INPUTS | {"settings": "b3:hot"}, INPUTS | {"graph": "b3:graph"}):
        others = dict.fromkeys(every, known(inputs=inputs))
        [check] = refused(document(rows(), measured=others))
        assert check in ("same_settings", "same_graph")
        assert decided(rows(), measured=others, overlay=None) == "promote"


def test_a_task_may_have_no_dependencies_and_no_oracle_when_no_run_has_them() -> None:
    bare = known(inputs={name: INPUTS[name] for name in ("template", "runtime", "settings")})
    every = {("a", arm, n): bare for arm in ("incumbent", "candidate") for n in range(3)}
    assert decided(rows(), measured=every) == "promote"
    equipped = known(inputs=INPUTS | {"assets": "b3:tree"})
    assert decided(rows(), measured=dict.fromkeys(every, equipped)) == "promote"


ALARM = [{"kind": "history-probing", "detail": "git log --all ×2"}]


def test_an_alarm_has_to_be_acknowledged() -> None:
    given = rows()
    given[4]["alarms"] = ALARM
    found = document(given)
    assert refused(found) == {"alarm"}
    [alarm] = found["evidence"]["alarms"]
    assert alarm["id"] in found["decisions"][0]["reasons"][0]
    assert decided(given, acknowledge=[alarm["id"]]) == "promote"
    given[4]["alarms"] = [{"kind": "history-probing", "detail": "git log --all ×3"}]
    assert decided(given, acknowledge=[alarm["id"]]) == "insufficient_evidence", "another alarm is not acknowledged"


def test_an_alarm_of_another_arm_is_its_own_affair() -> None:
    other = [row | {"arm": "baseline", "role": "comparator", "alarms": ALARM} for row in rows()[:3]]
    assert decided(rows() + other) == "promote"


def test_nothing_at_all_is_insufficient() -> None:
    found = document([])
    assert {"run_status", "arm_health", "model", "age", "paired_tasks"} <= refused(found)
    assert found["generated_at"] is None


def _changed(number: int, **facts: Any) -> Callable[[list[Row]], dict[str, Any]]:
    return lambda given: given[number].update(facts) or {}


def _known(arm: str, **facts: Any) -> Callable[[list[Row]], dict[str, Any]]:
    return lambda given: {"measured": {("a", arm, 1): known(**facts)}}


FLAWS: dict[str, Callable[[list[Row]], dict[str, Any]]] = {
    "a run is missing": lambda given: given.pop() and {},
    "a run was held back": _changed(2, state="not_run"),
    "a run is no evidence": _changed(4, error_kind="cleanup-failure"),
    "another model": _changed(1, model="other"),
    "another effort": _changed(3, effort="high"),
    "an alarm": _changed(5, alarms=ALARM),
    "until lucky": _known("candidate", attempts=9),
    "lost": _known("incumbent", whole=False),
    "of no time": _known("candidate", measured_at=None),
    "expired": _known("incumbent", measured_at="2026-01-01T00:00:00Z"),
    "another engine": _known("candidate", inputs=INPUTS | {"runtime": "b3:other"}),
    "a selection": lambda given: {"left_out": ["task z"]},
}
COSTS = st.lists(st.integers(1, 100).map(lambda cents: cents / 100), min_size=12, max_size=12)


@settings(max_examples=120, deadline=None)
@given(COSTS, st.lists(st.booleans(), min_size=12, max_size=12), st.sampled_from(sorted(FLAWS)))
def test_no_figures_make_up_for_a_flaw(costs: list[float], solved: list[bool], flaw: str) -> None:
    given_rows = [row | {"cost_usd": cost, "resolved": well} for row, cost, well in zip(rows(), costs, solved, strict=True)]
    found = document(given_rows, **FLAWS[flaw](given_rows))
    assert found["decision"] == "insufficient_evidence"
    assert found["decisions"][0]["reasons"]


@settings(max_examples=60, deadline=None)
@given(COSTS)
def test_without_one_the_figures_decide(costs: list[float]) -> None:
    priced = [row | {"cost_usd": cost} for row, cost in zip(rows(), costs, strict=True)]
    assert decided(priced) in ("promote", "keep_incumbent")
