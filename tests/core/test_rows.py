"""results.jsonl rows: every field of the reference, unknown is null, and the schema that says so."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bench import schemas
from bench.core import aggregate, review_outcome, rows, scoring
from bench.core.records import Record
from bench.effects.engines.claude import command
from tests.core.reviews import artifact, raw, raw_label, truth
from tests.steps.evidence import Evidence

REFERENCE = """
task class run arm model benchmark_model proposer_model effort task_ref task_base_sha sanitized_task_sha
variant_head_sha task_prompt_digest skill_digest candidate_overlay_digest runtime_digest recorded_at
sandbox_backend task_asset_snapshot_digest task_asset_manifest_digest sandbox_dependency_content_digest
sandbox_dependency_manifest_digest sanitized_graph_snapshot_digest sanitized_graph_manifest_digest
oracle_digest oracle_command_digest oracle_manifest_digest ok resolved error_kind error_detail plan_produced
authored_tests_passed authored_test_output oracle_passed oracle_output verify_output skill_invoked
transcript_missing evidence_diagnostics session_ids transcript_artifacts input_tokens
cache_creation_input_tokens cache_read_input_tokens output_tokens cost_usd duration_s num_turns
tool_use_counts gitnexus_tool_uses ce_plugin_version ce_plugin_manifest_digest diff_files diff_insertions diff_deletions
"""


def made(tmp_path: Path, **facts: Any) -> tuple[dict[str, Any], Record, Record]:
    evidence = Evidence(tmp_path)
    body = evidence.outcome("candidate", 0) | facts
    cell = evidence.cell("t", "candidate", 1, **body)
    session = evidence.store.find(cell.body["session_key"])
    assert session
    identity = {"task": "t", "class": "trivial", "arm": "candidate", "role": "candidate", "run": 1}
    return aggregate.compact(identity, cell), cell, session


def check(row: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schemas.load("results-row")).validate(row)
    assert set(REFERENCE.split()) <= set(row)


def test_a_measured_cell(tmp_path: Path) -> None:
    compact, cell, session = made(tmp_path, oracle_passed=True, authored_test_output="x" * 5000)
    transcript = {"name": "transcripts/t-candidate-1.jsonl", "sha256": "0" * 64, "bytes": 5}
    row = rows.row(compact, cell, session, transcript)
    check(row)
    assert row["task_prompt_digest"] == hashlib.sha256(session.params["prompt"].encode()).hexdigest()
    assert row["session_ids"] == [session.key]
    assert row["transcript_artifacts"] == [
        {"path": "transcripts/t-candidate-1.jsonl", "sha256": "0" * 64, "bytes": 5, "source": "parent-captured-stream-json"}
    ]
    assert row["oracle_output"] == "oracle passed"
    assert row["verify_output"] == row["authored_test_output"] == "x" * 4000
    assert row["recorded_at"] == "2026-11-29T10:00:00Z"
    assert row["sandbox_backend"] == "bwrap"


def test_source_and_oracle_are_named_in_the_references_fields(tmp_path: Path) -> None:
    b3 = "b3:" + "0" * 64
    said = {"task_base_sha": "1" * 40, "sanitized_task_sha": "2" * 40}
    said |= {"oracle_command_digest": b3, "oracle_manifest_digest": b3}
    compact, cell, session = made(tmp_path, **said)
    row = rows.row(compact | {"task_ref": "v1.2"}, cell, session, None)
    check(row)
    assert {name: row[name] for name in said} == said
    assert row["task_ref"] == "v1.2"
    assert rows.row(compact, cell, session, None)["task_ref"] is None


def test_a_plugins_version_and_manifest_stand_in_the_rows_of_its_arm(tmp_path: Path) -> None:
    plugin = {"name": "ce", "version": "1.2.3", "manifest_digest": "b3:" + "0" * 64}
    compact, cell, session = made(tmp_path)
    row = rows.row(compact | {"plugin": plugin}, cell, session, None)
    check(row)
    assert (row["ce_plugin_version"], row["ce_plugin_manifest_digest"]) == ("1.2.3", plugin["manifest_digest"])
    assert rows.row(compact, cell, session, None)["ce_plugin_version"] is None


def test_the_graphs_tools_are_counted_whoever_serves_them(tmp_path: Path) -> None:
    counts = {"Read": 2, "mcp__graph__callers": 3, "mcp__graph__impact": 1, "mcp__other__x": 5}
    compact, cell, session = made(tmp_path, tool_use_counts=counts)
    asking = [
        "graph callers total",
        "cd src && graph slice a.py:3 | head; /opt/graph/bin/graph impact x",
        "echo $(graph callees y)",
    ]
    others = ["dot graph callers", "echo graph callers x", "graph --help", "cat graph.json", "subgraph callers x"]
    row = rows.row(compact | {"commands": [*asking, *others]}, cell, session, None)
    check(row)
    assert row["gitnexus_tool_uses"] == 4 + 4
    compact, cell, session = made(tmp_path / "unknown", tool_use_counts=None)
    assert rows.row(compact, cell, session, None)["gitnexus_tool_uses"] is None
    assert f"mcp__{command.SERVER}__" == rows.GRAPH_TOOLS


def test_a_row_says_whether_a_plan_was_produced(tmp_path: Path) -> None:
    compact, cell, session = made(tmp_path)
    assert rows.row(compact, cell, session, None)["plan_produced"] is None
    planned = dataclasses.replace(session, outputs={**session.outputs, "plan": session.outputs["transcript"]})
    assert rows.row(compact, cell, planned, None)["plan_produced"] is True
    for said in ({"error_kind": "plan-evidence-invalid"}, {"evidence_diagnostics": ["plan-evidence-invalid: it is empty"]}):
        row = rows.row(compact, cell, dataclasses.replace(planned, body={**session.body, **said}), None)
        check(row)
        assert row["plan_produced"] is False


def test_what_is_always_null_is_said_with_its_reason() -> None:
    page = (Path(__file__).parents[2] / "docs" / "migrating.md").read_text()
    table = page.partition("always null\n")[2].partition("## Habits")[0]
    assert {name for name in REFERENCE.split() if name in rows.NULL} == set(rows.NULL)
    assert [name for name in rows.NULL if f"`{name}`" not in table] == []


def test_a_cell_that_did_not_run_has_a_row_of_nulls(tmp_path: Path) -> None:
    identity = {"task": "t", "class": "trivial", "arm": "a", "role": "incumbent", "run": 0}
    row = rows.row(aggregate.compact(identity, None), None, None, None)
    check(row)
    assert (row["state"], row["error_kind"], row["error_detail"]) == ("not_run", "cancelled", aggregate.NO_RECORD)
    assert (row["ok"], row["resolved"]) == (False, False)
    for name in ("cost_usd", "duration_s", "output_tokens", "diff_files", "transcript_missing", "sandbox_backend"):
        assert row[name] is None


def test_an_unmeasured_cost_is_null_not_zero(tmp_path: Path) -> None:
    compact, cell, session = made(tmp_path, cost_usd=None, output_tokens=None)
    row = rows.row(compact, cell, session, None)
    check(row)
    assert row["cost_usd"] is None
    assert row["output_tokens"] is None


def test_a_free_cell_keeps_its_real_zero(tmp_path: Path) -> None:
    compact, cell, session = made(tmp_path, cost_usd=0.0)
    assert rows.row(compact, cell, session, None)["cost_usd"] == 0.0


@pytest.mark.parametrize("hostile", ["a\nb", "\u2028", "\ud800", "::error::", "##[error]x", "del\x7f", "é☃"])
def test_a_line_is_ascii_and_reads_back_as_it_was(hostile: str) -> None:
    line = rows.line({"error_detail": hostile})
    assert line.isascii()
    assert b"##[" not in line
    assert b"\x7f" not in line
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"error_detail": hostile}


def test_a_review_has_every_figure_and_the_name_of_its_artifact(tmp_path: Path) -> None:
    scored = review_outcome.fields(review_outcome.judge(artifact(raw()), None, truth(raw_label())))
    compact, cell, session = made(tmp_path, **scored)
    row = rows.row(compact, cell, session, None, "t-candidate-run1.review.json")
    check(row)
    assert {f"review_{name}" for name in scoring.FIGURES} <= set(row)
    assert (row["review_evidence_valid"], row["review_artifact"]) == (True, "t-candidate-run1.review.json")
    assert row["review_score"]["matching"]["unmatched_labels"] == []
    compact, cell, session = made(tmp_path / "invalid", **review_outcome.fields(review_outcome.judge(b"{", None, ())))
    row = rows.row(compact, cell, session, None)
    assert (row["review_evidence_valid"], row["review_score"], row["review_artifact"]) == (False, None, None)
