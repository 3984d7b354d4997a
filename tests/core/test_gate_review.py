"""The review gate: every threshold at, below and above its value, and what may be unknown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.promotions import ARMS, Row, decided, document, failing, reviewed

PROMOTE, KEEP, INSUFFICIENT = "promote", "keep_incumbent", "insufficient_evidence"


def scores(task: str, before: float | None, now: float | None, **candidate: Any) -> list[Row]:
    """Three runs of each arm with one score; `candidate` are further facts of its rows. None = a clean task."""
    rows = [reviewed(task, ARMS[0], number, before) for number in range(3)]
    return rows + [reviewed(task, ARMS[1], number, now, **candidate) for number in range(3)]


def review(rows: list[Row], **more: Any) -> str:
    return decided(rows, "review", **more)


@pytest.mark.parametrize(
    ("before", "now", "decision"),
    [
        (0.20, 0.21, PROMOTE),
        (0.20, 0.209999, KEEP),
        (0.5, 0.5, KEEP),
        (0.5, 0.499999, KEEP),
        (0.57, 0.58, PROMOTE),
    ],
)
def test_a_hundredth_of_weighted_f1_promotes(before: float, now: float, decision: str) -> None:
    """Readings 10: decimal, so that 0.20 → 0.21 counts, whatever the floats say."""
    assert review(scores("d", before, now)) == decision


def test_one_defect_task_must_gain_and_none_may_lose() -> None:
    assert review(scores("a", 0.5, 0.6) + scores("b", 0.5, 0.5)) == PROMOTE
    found = document(scores("a", 0.5, 0.9) + scores("b", 0.5, 0.49), "review")
    assert (found["decision"], failing(found, "regression")) == (KEEP, {"weighted_f1"})


def test_a_clean_control_alone_improves_nothing() -> None:
    assert review(scores("c", None, None)) == KEEP


@pytest.mark.parametrize(
    ("facts", "check"),
    [
        ({"review_verdict_correct": False}, "verdict_correct"),
        ({"review_blocker_recall": 0.5}, "blocker_recall"),
    ],
)
def test_a_regression_on_a_defect_task_beats_a_gain(facts: dict[str, Any], check: str) -> None:
    found = document(scores("a", 0.5, 0.9, **facts), "review")
    assert (found["decision"], failing(found, "regression")) == (KEEP, {check})


def test_one_wrong_verdict_of_three_is_enough() -> None:
    rows = scores("a", 0.5, 0.9)
    rows[5]["review_verdict_correct"] = False
    assert review(rows) == KEEP
    rows = scores("a", 0.5, 0.9)
    rows[0]["review_verdict_correct"] = False
    assert review(rows) == PROMOTE, "the incumbent may be wrong"


def test_the_worst_run_is_the_blocker_recall() -> None:
    rows = scores("a", 0.5, 0.9)
    rows[4]["review_blocker_recall"] = 0.9
    assert review(rows) == KEEP
    rows[1]["review_blocker_recall"] = 0.9
    assert review(rows) == PROMOTE


@pytest.mark.parametrize(
    ("facts", "checks"),
    [
        ({"review_false_positives": 1}, {"false_positives"}),
        ({"review_clean_pass": False}, {"clean_pass"}),
        ({"review_false_positives": 1, "review_clean_pass": False}, {"false_positives", "clean_pass"}),
    ],
)
def test_a_clean_control_may_not_get_worse(facts: dict[str, Any], checks: set[str]) -> None:
    found = document(scores("d", 0.5, 0.9) + scores("c", None, None, **facts), "review")
    assert (found["decision"], failing(found, "regression")) == (KEEP, checks)


def test_false_positives_of_a_defect_task_only_have_to_be_known() -> None:
    assert review(scores("a", 0.5, 0.6, review_false_positives=9)) == PROMOTE


@pytest.mark.parametrize(
    "name", ["review_weighted_f1", "review_false_positives", "review_clean_control", "review_verdict_correct"]
)
def test_an_unknown_figure_of_the_candidate_is_insufficient(name: str) -> None:
    rows = scores("a", 0.5, 0.9)
    del rows[4][name]
    assert review(rows) == INSUFFICIENT


def test_null_verdict_evidence_of_the_incumbent_alone_is_no_obstacle() -> None:
    """Readings 13."""
    rows = scores("a", 0.5, 0.9)
    for row in rows[:3]:
        del row["review_verdict_correct"]
    assert review(rows) == PROMOTE


@pytest.mark.parametrize("side", [0, 3])
def test_blocker_recall_unknown_on_one_side_is_insufficient_and_on_both_is_fine(side: int) -> None:
    rows = scores("a", 0.5, 0.9)
    del rows[side]["review_blocker_recall"]
    assert review(rows) == INSUFFICIENT
    del rows[3 - side]["review_blocker_recall"]
    assert review(rows) == PROMOTE


def test_clean_flags_that_differ_are_insufficient() -> None:
    rows = scores("a", 0.5, 0.9)
    for row in rows[3:]:
        row["review_clean_control"] = True
    assert "clean_control" in failing(document(rows, "review"), "insufficient")


def test_a_clean_task_is_what_its_rows_say() -> None:
    """Readings 13: whatever its class says."""
    rows = [row | {"class": "review-defect"} for row in scores("c", None, None)]
    assert document(rows, "review")["decisions"][0]["tasks"][0]["improvement"] is None


@pytest.mark.parametrize("kind", ["session-error", "review-evidence-invalid", "cancelled", "infra-error"])
def test_insufficient_beats_regression_and_gain(kind: str) -> None:
    rows = scores("a", 0.5, 0.4)
    rows[0] |= {"error_kind": kind, "state": "unusable"}
    assert review(rows) == INSUFFICIENT


def test_a_row_with_an_invalid_artifact_counts_as_excluded_whatever_came_first() -> None:
    rows = scores("a", 0.5, 0.9)
    rows[4] |= {"error_kind": "skill-not-invoked", "review_evidence_valid": False}
    assert "excluded_runs" in failing(document(rows, "review"), "insufficient")


def test_thresholds_are_the_suites() -> None:
    assert review(scores("a", 0.5, 0.54), thresholds={"min_improvement": 0.05}) == KEEP
    assert review(scores("a", 0.5, 0.55), thresholds={"min_improvement": 0.05}) == PROMOTE


@st.composite
def reviews(draw: st.DrawFn) -> list[Row]:
    """Three runs of each arm on one to three tasks, defect and clean, with any figures; half of the candidates gain."""
    gains = draw(st.booleans())
    rows: list[Row] = []
    for task in range(draw(st.integers(1, 3))):
        clean = draw(st.booleans())
        blocking = draw(st.booleans())
        for arm in ARMS:
            better = gains and arm == ARMS[1]
            share = st.integers(9 if better else 0, 10 if gains else 20).map(lambda step: step / 20)
            for number in range(3):
                facts: dict[str, Any] = {"review_verdict_correct": better or draw(st.booleans())}
                facts["review_false_positives"] = 0 if better else draw(st.integers(0, 2))
                if clean:
                    facts["review_clean_pass"] = better or draw(st.booleans())
                else:
                    facts["review_blocker_recall"] = draw(share) if blocking else None
                facts = {name: value for name, value in facts.items() if value is not None}
                row = reviewed(f"t{task}", arm, number, None if clean else draw(share), **facts)
                if not (clean or blocking):
                    del row["review_blocker_recall"]
                rows.append(row)
    return rows


def lowered(draw: st.DrawFn, row: Row) -> Row:
    """The row with one of its figures worse than it was."""
    clean = row["review_clean_control"]
    figures = ["review_verdict_correct", "review_false_positives", "review_clean_pass" if clean else "review_weighted_f1"]
    figures += ["review_blocker_recall"] if "review_blocker_recall" in row else []
    name = draw(st.sampled_from(figures))
    value = row[name]
    if isinstance(value, bool):
        return row | {name: False}
    if name == "review_false_positives":
        return row | {name: value + draw(st.integers(1, 3))}
    return row | {name: draw(st.floats(0, value).map(lambda less: round(less, 6)))}


@settings(max_examples=150, deadline=None)
@given(reviews(), st.data())
def test_a_worse_figure_of_the_candidate_never_promotes_what_was_kept(rows: list[Row], data: st.DataObject) -> None:
    place = data.draw(st.sampled_from([at for at, row in enumerate(rows) if row["arm"] == ARMS[1]]))
    worse = [*rows]
    worse[place] = data.draw(st.composite(lowered)(rows[place]))
    assert review(rows) == PROMOTE or review(worse) != PROMOTE


@settings(max_examples=80, deadline=None)
@given(reviews(), st.data())
def test_any_run_that_is_missing_is_insufficient(rows: list[Row], data: st.DataObject) -> None:
    gone = data.draw(st.integers(0, len(rows) - 1))
    assert review(rows[:gone] + rows[gone + 1 :]) == INSUFFICIENT


@settings(max_examples=80, deadline=None)
@given(reviews())
def test_a_promotion_is_right_everywhere_and_worse_nowhere(rows: list[Row]) -> None:
    """The rule as it is written, read off the rows themselves."""
    if review(rows) != PROMOTE:
        return
    gains = []
    for task in {row["task"] for row in rows}:
        old, new = ([row for row in rows if (row["task"], row["arm"]) == (task, arm)] for arm in ARMS)
        assert all(row["review_verdict_correct"] for row in new)
        for name in ("review_blocker_recall", "review_clean_pass"):
            if name in new[0] and (name != "review_clean_pass" or new[0]["review_clean_control"]):
                assert min(row[name] for row in new) >= min(row[name] for row in old)
        if not new[0]["review_clean_control"]:
            gains.append(_middle(new) - _middle(old))
    assert min(gains) >= -1e-9
    assert max(gains) >= 0.01 - 1e-9


def _middle(rows: list[Row]) -> float:
    return float(sorted(row["review_weighted_f1"] for row in rows)[1])
