"""Whether a promotion.json is believed: whatever stands in it, an answer and never a traceback."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core import promotion_check
from bench.core.gate import PROMOTE
from tests.core.promotions import Row, arms, document, reviewed

DOCUMENTS = [
    json.loads(json.dumps(document(arms("a", [{"cost_usd": 1.0}] * 3, [{"cost_usd": 0.5}] * 3)))),
    json.loads(
        json.dumps(
            document(
                [
                    reviewed(task, arm, n, f1)
                    for task, before, now in (("d", 0.5, 0.7), ("c", None, None))
                    for arm, f1 in (("incumbent", before), ("candidate", now))
                    for n in range(3)
                ],
                "review",
            )
        )
    ),
]
GONE = "(taken out)"
ODD = st.sampled_from(
    [None, True, 0, -1, 1.5, 10**400, float("nan"), float("inf"), "", "x", "\ud800", [], {}, [None], {"a": 1}, GONE]
)
Place = tuple[str | int, ...]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every place in a document."""
    if at:
        yield at
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*at, key))


PLACES = [sorted(places(found), key=str) for found in DOCUMENTS]


def edited(number: int, at: Place, value: Any) -> Any:
    found = copy.deepcopy(DOCUMENTS[number])
    inner = found
    for key in at[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[at[-1]]
    else:
        inner[at[-1]] = value
    return found


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(0, 1), ODD)
def test_no_value_anywhere_is_a_traceback(data: st.DataObject, number: int, value: Any) -> None:
    found = edited(number, data.draw(st.sampled_from(PLACES[number])), value)
    faults = promotion_check.faults(found)
    assert all(isinstance(fault, str) and fault for fault in faults)
    assert bool(faults) <= bool(promotion_check.applicable(found))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", ["cost_usd", "review_false_positives", "review_weighted_f1", "output_tokens"])
def test_a_number_that_json_has_not_is_refused(name: str, value: float) -> None:
    """Spec 5.1: canonical JSON, no NaN; a NaN compares as neither better nor worse."""
    found = edited(1, ("decisions", 0, "tasks", 0, "candidate", name), value)
    assert promotion_check.faults(found)[0].startswith("is not JSON")


@pytest.mark.parametrize("name", ["min_runs", "min_improvement_pct", "max_task_regression_pct", "min_gated_task_ratio"])
def test_a_threshold_that_was_taken_out_is_refused_in_words(name: str) -> None:
    found = edited(0, ("policy", "candidate", name), GONE)
    assert promotion_check.faults(found)
    assert promotion_check.applicable(found)


def test_a_document_that_is_nested_too_deeply_is_refused_in_words() -> None:
    found: Any = []
    for _ in range(5000):
        found = [found]
    told = promotion_check.faults(DOCUMENTS[0] | {"suite": found})
    assert told == [promotion_check.TOO_DEEP]


def test_an_age_limit_of_a_million_million_days_is_refused_at_once() -> None:
    told = promotion_check.faults(edited(0, ("evidence", "max_age_days"), 10**12))
    assert told == ["evidence.max_age_days: 1000000000000 is greater than the maximum of 3650"]


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("decisions", 0, "tasks", 0, "candidate", "review_weighted_f1"), 1.5),
        (("decisions", 0, "tasks", 0, "candidate", "review_blocker_recall"), -0.1),
        (("decisions", 0, "tasks", 0, "candidate", "review_verdict_correct"), 1),
        (("decisions", 0, "tasks", 0, "incumbent", "review_clean_control"), True),
        (("decisions", 0, "tasks", 0, "candidate", "resolved"), 4),
        (("decisions", 0, "tasks", 0, "candidate", "valid_runs"), 4),
        (("decisions", 0, "tasks", 0, "candidate", "fresh_attempts"), 2),
        (("decisions", 0, "tasks", 0, "candidate", "fresh_attempts"), 4),
        (("decisions", 0, "tasks", 0, "candidate", "resolved_fresh"), 4),
        (("decisions", 0, "tasks", 0, "candidate", "excluded_runs"), 1),
        (("decisions", 0, "ungated_tasks"), ["d"]),
        (("decisions", 0, "tasks", 1, "gated"), False),
        (("decisions", 0, "metric"), "cost_usd"),
        (("decisions", 0, "model"), "another"),
        (("decisions", 0, "incumbent_arm"), "other"),
        (("benchmark_model",), "another"),
        (("effort",), "max"),
        (("evidence", "overlay"), False),
        (("required_candidate_arms",), ["candidate", "candidate"]),
        (("run_status",), "aborted"),
        (("generated_at",), "2026-11-29T10:00:01Z"),
        (("evidence_expires_at",), "2027-12-01T00:00:00Z"),
    ],
    ids=str,
)
def test_each_rule_of_the_form_is_asked(at: Place, value: Any) -> None:
    """Spec 5.1, one edit each; the document before it promotes and holds."""
    assert DOCUMENTS[1]["decision"] == PROMOTE
    assert promotion_check.applicable(DOCUMENTS[1]) == []
    assert promotion_check.applicable(edited(1, at, value))


@st.composite
def review_sweeps(draw: st.DrawFn) -> list[Row]:
    """Whatever two reviewing arms may have done on up to two tasks, dead, held back and half known runs among them."""
    rows = []
    for task in "dc"[: draw(st.integers(1, 2))]:
        for arm in ("incumbent", "candidate"):
            for number in range(draw(st.sampled_from([0, 2, 3, 3, 3]))):
                score = draw(st.sampled_from([0.0, 0.2, 0.21, 0.57, 1.0])) if task == "d" else None
                row = reviewed(task, arm, number, score, resolved=draw(st.booleans()))
                for name in draw(st.sets(st.sampled_from(sorted(row.keys() - KEPT)), max_size=2)):
                    del row[name]
                fate = draw(st.sampled_from([None, None, None, None, "session-error", "oracle-failed", "invalid", "held"]))
                row |= FATES.get(str(fate), {})
                rows.append(row)
    return rows


KEPT = {"task", "class", "arm", "role", "run", "state", "resolved", "cell", "session"}
FATES: dict[str, Row] = {
    "session-error": {"error_kind": "session-error", "state": "unusable", "resolved": False},
    "oracle-failed": {"error_kind": "oracle-failed", "resolved": False},
    "invalid": {"error_kind": "skill-not-invoked", "review_evidence_valid": False, "resolved": False},
    "held": {"state": "not_run", "resolved": False},
}


@settings(max_examples=60, deadline=None)
@given(review_sweeps())
def test_what_was_made_holds_and_decides_the_same_again(rows: list[Row]) -> None:
    """Gate determinism and the file's round trip, for reviews: what `verify` says of a true document is nothing."""
    found = document(rows, "review")
    data = json.dumps(found, sort_keys=True)
    assert json.dumps(document(copy.deepcopy(rows), "review"), sort_keys=True) == data
    assert promotion_check.faults(json.loads(data)) == []
    assert bool(promotion_check.applicable(json.loads(data))) == (found["decision"] != PROMOTE)
