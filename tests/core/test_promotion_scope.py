"""What a candidate is decided on: its own gate, its own tasks, and nothing less than the suite's file says."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bench.core import corpus, overrides, promotion_check, promotion_scope
from bench.core.suite import Suite
from tests.core.promotions import REVIEW, Row, arms, binding, document, reviewed

OVERLAY = "candidates/both"
ARMS: list[dict[str, Any]] = [
    {"name": "nop", "role": "calibration", "engine": "nop"},
    {"name": "work", "role": "incumbent", "engine": "loop", "skills": ["skills/do"], "only": ["bug", "dear"]},
    {
        "name": "look",
        "role": "incumbent",
        "engine": "loop",
        "skills": ["skills/see"],
        "only": ["case"],
        "phases": ["review"],
    },
    {"name": "new-work", "role": "candidate", "of": "work", "overlay": OVERLAY},
    {"name": "new-look", "role": "candidate", "of": "look", "overlay": OVERLAY},
    {"name": "bare", "role": "comparator", "engine": "loop", "only": ["bug"]},
]
PAIRS = [("work", "new-work"), ("look", "new-look")]


def suite(**more: Any) -> Suite:
    """Work and reviews in one suite, with an overlay over both."""
    command = {"command": "true", "files": [{"source": "x", "target": "x"}]}
    labels = {"labels": "labels.json"}
    said = {"class": "c", "source": {"dir": "repos/a"}, "prompt": "p", "verify": "true"}
    tasks = [
        {"id": "bug", "oracle": command} | said,
        {"id": "case", "oracle": labels} | said,
        {"id": "dear", "oracle": command, "expensive": True} | said,
    ]
    text = json.dumps({"suite": "s", "model": "m/x", "arms": ARMS, "tasks": tasks} | more)
    return corpus.parse_suite(text, path="corpus/s.yaml", arms_text=None, arms_path="corpus/arms.yaml")


def test_each_arm_is_judged_by_the_gate_of_what_it_does() -> None:
    whole = suite(promotion={"min_runs": 5, "min_improvement_pct": 9, "policy": "statistical"})
    work, look = (promotion_scope.thresholds(whole, whole.arm(name)) for name in ("new-work", "new-look"))
    assert (work["metric"], work["min_improvement_pct"], work["min_runs"]) == ("cost_usd", 9, 5)
    assert look == {"metric": "review_weighted_f1", "min_improvement": 0.01, "min_runs": 5, "policy": "statistical"} | {
        "max_attempt_difference": 1
    }
    both = suite(promotion={"min_improvement": 0.3, "min_improvement_pct": 9})
    work, look = (promotion_scope.thresholds(both, both.arm(name)) for name in ("new-work", "new-look"))
    assert (work["min_improvement_pct"], look["min_improvement"]) == (9, 0.3)
    assert ("min_improvement" in work, "min_improvement_pct" in look) == (False, False)
    of_reviews = suite(profile="review", promotion={"min_improvement": 0.2, "max_attempt_difference": 3})
    work, look = (promotion_scope.thresholds(of_reviews, of_reviews.arm(name)) for name in ("new-work", "new-look"))
    assert (look["min_improvement"], work["metric"], work["max_attempt_difference"]) == (0.2, "cost_usd", 3)


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ({}, {}),
        ({"runs": "4", "expensive": "0", "workers": "1"}, {}),
        ({"runs": "1"}, {"runs": ["2 of 3 runs"]}),
        ({"tasks": "bug"}, {"tasks": ["task case"]}),
        ({"arms": "work,new-work,look,new-look"}, {"arms": ["arm nop", "arm bare"]}),
        ({"arms": "nop,bare,work,new-work"}, {"arms": ["arm look", "arm new-look"]}),
        ({"expensive": "1", "tasks": "bug,case"}, {"tasks": ["task dear"]}),
    ],
)
def test_what_a_command_line_leaves_out_is_named(words: dict[str, str], missing: dict[str, list[str]]) -> None:
    whole = suite()
    assert promotion_scope.left_out(whole, overrides.override(whole, words), PAIRS) == missing


def test_what_concerns_another_candidate_is_not_missed() -> None:
    whole = suite()
    chosen = overrides.override(whole, {"arms": "nop,bare,work,new-work", "tasks": "bug"})
    assert promotion_scope.left_out(whole, chosen, PAIRS[:1]) == {}


@pytest.mark.parametrize(
    ("name", "less", "more"),
    [
        ("min_runs", 2, 4),
        ("min_improvement_pct", 4.9, 6),
        ("min_gated_task_ratio", 0.4, 0.6),
        ("max_task_regression_pct", 21, 19),
        ("max_failed_task_regression_pct", 101, 99),
        ("max_attempt_difference", 2, 0),
    ],
)
def test_a_threshold_that_asks_for_less_than_the_file_is_told(name: str, less: float, more: float) -> None:
    whole = suite()
    for value, told in ((less, [name]), (more, []), (whole.promotion[name], [])):
        assert promotion_scope.loosened(whole, overrides.override(whole, {name: value})) == told


def test_another_metric_and_a_plainer_policy_ask_for_less() -> None:
    whole = suite(promotion={"policy": "statistical"})
    assert promotion_scope.loosened(whole, overrides.override(whole, {"policy": "reference"})) == ["policy"]
    assert promotion_scope.loosened(whole, overrides.override(whole, {"metric": "duration_s"})) == ["metric"]
    assert promotion_scope.loosened(suite(), overrides.override(suite(), {"policy": "statistical"})) == []
    assert promotion_scope.loosened(whole, replace(whole, runs=1)) == []


def mixed(work: float, score: float) -> dict[str, Any]:
    """The document of an overlay over work (costs of the candidate) and reviews (its weighted F1)."""
    rows: list[Row] = arms("bug", [{"cost_usd": 1.0}] * 3, [{"cost_usd": work}] * 3)
    for arm, f1 in (("look", 0.5), ("new-look", score)):
        role = "candidate" if arm == "new-look" else "incumbent"
        rows += [reviewed("case", arm, n, f1) | {"role": role} for n in range(3)]
    thresholds = {
        name: {key: value for key, value in gate.items() if key != "acknowledge"}
        for name, gate in (("candidate", corpus.IMPLEMENTATION_GATE), ("new-look", REVIEW))
    }
    tasks = [binding("bug", ["candidate"]), binding("case", ["new-look"])]
    return document(rows, pairs=[["incumbent", "candidate"], ["look", "new-look"]], tasks=tasks, by_arm=thresholds)


@pytest.mark.parametrize(
    ("work", "score", "decisions"),
    [
        (0.5, 0.7, ["promote", "promote"]),
        (0.5, 0.5, ["promote", "keep_incumbent"]),
        (0.99, 0.7, ["keep_incumbent", "promote"]),
    ],
)
def test_an_overlay_over_work_and_reviews_is_decided_on_both(work: float, score: float, decisions: list[str]) -> None:
    """Spec 8.6: each pair on the tasks that it runs, by its own gate; all must promote."""
    found = json.loads(json.dumps(mixed(work, score)))
    assert [one["decision"] for one in found["decisions"]] == decisions
    assert [[row["task"] for row in one["tasks"]] for one in found["decisions"]] == [["bug"], ["case"]]
    assert [one["metric"] for one in found["decisions"]] == ["cost_usd", "review_weighted_f1"]
    assert promotion_check.faults(found) == []
    assert bool(promotion_check.applicable(found)) == ("keep_incumbent" in decisions)


def test_a_task_that_an_arm_of_a_mixed_overlay_was_selected_for_cannot_be_taken_out() -> None:
    found = json.loads(json.dumps(mixed(0.5, 0.7)))
    found["decisions"][1]["tasks"] = []
    assert "new-look: its tasks are not the selected ones" in promotion_check.faults(found)
    found = json.loads(json.dumps(mixed(0.5, 0.7)))
    found["selected_tasks"][1]["candidate_arms"] = []
    assert "selected_tasks has a task of no required arm" in promotion_check.faults(found)
