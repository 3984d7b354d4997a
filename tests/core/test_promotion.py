"""promotion.json as a whole: names of schema 6, determinism, every required arm, and that an edited one is found out."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core import calendar, promotion, promotion_check, promotion_text, schema_plain
from bench.core.gate_implementation import METRICS
from bench.core.promotion_sides import measured
from bench.core.records import Record, sealed
from tests.core.promotions import STAMP, Row, arms, document, known, params, reviewed, run

GOLDEN = Path(__file__).parents[1] / "golden"
TOP = """
schema_version run_status generated_at evidence_expires_at benchmark_model proposer_model effort candidate_origin
candidate_overlay candidate_overlay_digest target_base_digests required_candidate_arms selected_tasks ce_plugin policy
decisions
"""
BINDING = """
id class repo_identity ref prompt_digest setup_digest verify_digest expensive sandbox_copy sandbox_dependencies
sandbox_dependency_content_digest sandbox_dependency_manifest_digest oracle_digest oracle_command_digest
oracle_manifest_digest oracle_files resolved_sha
"""
GOOD = arms("a", [{"cost_usd": 1.0}] * 3, [{"cost_usd": 0.5}] * 3) + arms("b", [{}] * 3, [{"cost_usd": 0.9}] * 3)
REVIEWS = [
    reviewed(task, arm, n, f1)
    for task, before, now in (("d", 0.5, 0.7), ("c", None, None))
    for arm, f1 in (("incumbent", before), ("candidate", now))
    for n in range(3)
]


@pytest.mark.parametrize(
    ("rows", "profile"), [(GOOD, "implementation"), (REVIEWS, "review"), ([], "implementation"), ([], "review")]
)
def test_a_document_fits_its_schema_and_holds(rows: list[Row], profile: str) -> None:
    found = json.loads(json.dumps(document(rows, profile)))
    assert set(TOP.split()) <= set(found)
    assert all(set(BINDING.split()) <= set(task) for task in found["selected_tasks"])
    assert schema_plain.faults(found, "promotion") == []
    assert promotion_check.faults(found) == []
    assert found["decision"] == ("promote" if rows else "insufficient_evidence")
    assert bool(promotion_check.applicable(found)) == (not rows)


def test_the_names_of_a_decision() -> None:
    [one] = document(GOOD)["decisions"]
    assert (one["candidate_arm"], one["incumbent_arm"], one["metric"], one["model"]) == (
        "candidate",
        "incumbent",
        "cost_usd",
        "m-1",
    )
    assert (one["gated_tasks"], one["ungated_tasks"], one["median_improvement_pct"]) == (["a", "b"], [], 30)
    side = one["tasks"][0]["candidate"]
    assert (side["runs"], side["valid_runs"], side["excluded_runs"], side["resolved"], side["cost_usd"]) == (3, 3, 0, 3, 0.5)
    assert [run["session"] for run in side["evidence"]] == [f"sc-a/candidate/{n}" for n in range(3)]
    [one] = document(REVIEWS, "review")["decisions"]
    assert "metric_warning" not in one
    assert one["tasks"][0]["candidate"]["review_weighted_f1"] == 0.7


def test_a_candidate_without_an_overlay_is_decided_and_never_applied() -> None:
    """It may differ in its model's settings: nothing in the working tree would be what won."""
    found = document(GOOD, overlay=None)
    assert (found["decision"], promotion_check.faults(found)) == ("promote", [])
    assert promotion_check.applicable(found) == [
        "NOT PROMOTED: the candidate has no overlay, and nothing but an overlay can be applied"
    ]


def test_the_policy_is_bound_with_its_rule() -> None:
    found = document(GOOD, thresholds={"min_improvement_pct": 7})
    assert found["policy"]["candidate"]["min_improvement_pct"] == 7
    assert "min_improvement_pct" in found["policy"]["candidate"]["quality_rule"]


@settings(max_examples=30, deadline=None)
@given(st.permutations(GOOD), st.permutations(REVIEWS))
def test_the_order_of_rows_decides_nothing(rows: list[Row], reviews: list[Row]) -> None:
    ordered = [params(GOOD, "implementation")["tasks"], params(REVIEWS, "review")["tasks"]]
    for mixed, given_, profile, tasks in (
        (rows, GOOD, "implementation", ordered[0]),
        (reviews, REVIEWS, "review", ordered[1]),
    ):
        assert document(mixed, profile, tasks=tasks)["decisions"] == document(given_, profile)["decisions"]


FACTS = st.fixed_dictionaries(
    {
        "resolved": st.booleans(),
        "cost_usd": st.sampled_from([None, 0.0, 0.5, 1.0, 3.0]),
        "error_kind": st.sampled_from([None, None, None, "skill-not-invoked", "session-error", "oracle-failed"]),
        "model": st.sampled_from(["m-1", "m-1", "m-1", None]),
    }
)


@st.composite
def sweeps(draw: st.DrawFn) -> list[Row]:
    """Whatever two arms may have done on up to three tasks."""
    rows = []
    for task in "abc"[: draw(st.integers(1, 3))]:
        for arm in ("incumbent", "candidate"):
            for number in range(draw(st.sampled_from([0, 2, 3, 3, 3]))):
                facts = {key: value for key, value in draw(FACTS).items() if value is not None}
                facts |= {"resolved": False} if "error_kind" in facts else {}
                rows.append(run(task, arm, number, **facts))
    return rows


@settings(deadline=None)
@given(sweeps())
def test_the_same_rows_decide_the_same_and_the_document_proves_it(rows: list[Row]) -> None:
    found = document(rows)
    assert found == document(copy.deepcopy(rows))
    again = json.loads(json.dumps(found))
    assert promotion_check.faults(again) == []
    assert promotion.recompute(again)["decision"] == found["decision"]


@settings(deadline=None)
@given(sweeps(), st.data())
def test_no_promotion_with_an_excluded_run(rows: list[Row], data: st.DataObject) -> None:
    if not rows:
        return
    spoilt = copy.deepcopy(rows)
    data.draw(st.sampled_from(spoilt)).update(error_kind="session-error", state="unusable", resolved=False)
    assert document(spoilt)["decision"] == "insufficient_evidence"


@settings(deadline=None)
@given(sweeps())
def test_a_promotion_solves_no_task_less_often(rows: list[Row]) -> None:
    found = document(rows)
    if found["decision"] == "promote":
        for task in found["decisions"][0]["tasks"]:
            assert task["candidate"]["resolved"] >= task["incumbent"]["resolved"]


def test_every_required_arm_is_decided_and_one_that_keeps_keeps_all() -> None:
    """Failure mode 15."""
    direct = [row | {"arm": f"{row['arm']}-direct"} for row in arms("a", [{"cost_usd": 1.0}] * 3, [{"cost_usd": 1.0}] * 3)]
    rows = arms("a", [{"cost_usd": 1.0}] * 3, [{"cost_usd": 0.5}] * 3) + direct
    pairs = [["incumbent", "candidate"], ["incumbent-direct", "candidate-direct"]]
    found = document(rows, pairs=pairs)
    assert [one["decision"] for one in found["decisions"]] == ["promote", "keep_incumbent"]
    assert (found["decision"], found["required_candidate_arms"]) == ("keep_incumbent", ["candidate", "candidate-direct"])
    assert promotion_check.faults(found) == []
    dropped = found | {"decisions": found["decisions"][:1], "decision": "promote"}
    assert promotion_check.faults(dropped)


def edit_decision(found: dict[str, Any]) -> None:
    found["decision"] = "promote"


def edit_decisions(found: dict[str, Any]) -> None:
    found["decision"] = found["decisions"][0]["decision"] = "promote"


def edit_threshold(found: dict[str, Any]) -> None:
    found["policy"]["candidate"]["min_improvement_pct"] = 0.0
    edit_decisions(found)


def edit_cost(found: dict[str, Any]) -> None:
    found["decisions"][0]["tasks"][0]["candidate"]["cost_usd"] = 0.1
    edit_decisions(found)


def edit_check(found: dict[str, Any]) -> None:
    for one in found["decisions"][0]["checks"]:
        one["verdict"] = "improved" if one["verdict"] == "short" else one["verdict"]
    edit_decisions(found)


def edit_counts(found: dict[str, Any]) -> None:
    found["decisions"][0]["tasks"][0]["candidate"]["runs"] = 9


def edit_expiry(found: dict[str, Any]) -> None:
    found["evidence_expires_at"] = found["evidence"]["evidence_expires_at"] = "2036-01-01T00:00:00Z"


def edit_generated(found: dict[str, Any]) -> None:
    found["generated_at"] = found["evidence"]["newest_measured_at"] = "2026-12-24T00:00:00Z"


def edit_arm(found: dict[str, Any]) -> None:
    found["decisions"][0]["candidate_arm"] = "other"


def edit_task(found: dict[str, Any]) -> None:
    found["selected_tasks"].pop()


def edit_version(found: dict[str, Any]) -> None:
    found["schema_version"] = 7


def edit_unknown(found: dict[str, Any]) -> None:
    found["note"] = "approved by hand"


EDITS = [
    edit_decision,
    edit_decisions,
    edit_threshold,
    edit_cost,
    edit_check,
    edit_counts,
    edit_expiry,
    edit_generated,
    edit_arm,
    edit_task,
    edit_version,
    edit_unknown,
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edited_document_is_found_out(edit: Any) -> None:
    found = document(arms("a", [{"cost_usd": 1.0}] * 3, [{"cost_usd": 0.99}] * 3))
    assert found["decision"] == "keep_incumbent"
    assert promotion_check.faults(found) == []
    edit(found)
    assert promotion_check.faults(found)
    assert promotion_check.applicable(found)


@pytest.mark.parametrize("more", [{}, {"schema_version": 6}, {"run_status": "complete"}])
def test_schema_5_is_readable_and_never_applicable(more: dict[str, Any]) -> None:
    """Historical files: whatever number is edited in."""
    old = json.loads((GOLDEN / "promotion-5.json").read_bytes())
    assert promotion_check.faults(old) == []
    assert promotion_check.applicable(old | more)
    assert promotion_check.faults({"schema_version": 5})
    for nothing in (None, [], {}, {"schema_version": True}, {"schema_version": "6"}):
        assert promotion_check.faults(nothing)
        assert promotion_check.applicable(nothing)


def test_schema_6_reads_the_same_for_as_long_as_it_lives() -> None:
    found = json.loads((GOLDEN / "promotion-6.json").read_bytes())
    assert promotion_check.faults(found) == []
    assert (found["decision"], promotion_check.applicable(found)) == ("promote", [])


def test_turns_and_tokens_of_the_main_loop_are_warned_about() -> None:
    """Spec 2.8: the engine's own count leaves its helpers out; the gateway's does not, and dollars never do."""
    rows = arms("a", [{"num_turns": 10}] * 3, [{"num_turns": 5}] * 3)

    def warned(metric: str, **session: Any) -> bool:
        body = {"engine": "claude", "measured_at": STAMP} | session
        record = sealed(Record("session", "s", "k", {}, {}, "final", None, {}, body))
        found = document(rows, thresholds={"metric": metric}, measured={("a", "candidate", 0): measured(record, record)})
        assert promotion_check.faults(found) == []
        return found["decisions"][0]["metric_warning"] is not None

    counted = {"gateway": {"usage": {"output_tokens": 9}}}
    assert [warned(metric) for metric in METRICS] == [False, True, False, True]
    assert [warned(metric, **counted) for metric in METRICS] == [False, False, False, True], "it counts tokens, and no turns"
    assert not any(warned(metric, engine="loop") for metric in METRICS)


def test_the_newest_and_the_oldest_measurement_bound_the_document() -> None:
    found = document(GOOD, measured={("a", "incumbent", 1): known(measured_at="2026-11-01T00:00:00Z")})
    assert (found["generated_at"], found["evidence_expires_at"]) == (STAMP, "2027-01-30T00:00:00Z")
    assert calendar.later("2026-11-01T00:00:00Z", 90) == "2027-01-30T00:00:00Z"


def test_the_table_shows_every_check_and_escapes_what_agents_named() -> None:
    rows = copy.deepcopy(GOOD)
    rows[4]["alarms"] = [{"kind": "odd-file", "detail": "a|b <script> [x](y)\nmore"}]
    found = document(rows)
    lines = promotion_text.lines(found)
    assert promotion_text.line(found).startswith("promotion s/candidate: insufficient_evidence: alarm")
    assert all("\n" not in line for line in lines)
    assert not any("<script>" in line or " a|b" in line for line in lines)
    for check in found["decisions"][0]["checks"]:
        assert any(line.startswith(f"| {check['check']} |") for line in lines)
