"""The promotion step on records of a small suite: what it looks up, what it says, and when it looks again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.core import digest, promotion_check, records
from bench.core.records import Record
from bench.effects import trees
from bench.effects.context import Job, Made
from bench.effects.trees import Entry
from bench.steps import promotion
from tests.core.promotions import params
from tests.steps.evidence import TASKS, Evidence


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    made = Evidence(tmp_path_factory.mktemp("evidence"))
    made.fill()
    return made


def given(**more: Any) -> dict[str, Any]:
    rows = [{"task": task} for task in TASKS]
    return params(rows, "implementation") | {"suite": "demo", "comparators": ["baseline"]} | more


def make(evidence: Evidence, inputs: dict[str, Record], **more: Any) -> tuple[Made, dict[str, Any]]:
    job = Job("promotion", "demo/candidate", digest.of("test/key/1", "p"), given(**more), inputs, {})
    made = promotion.make(job, evidence.context)
    return made, json.loads(evidence.store.get(made.outputs["promotion"].blob))


def test_a_document_from_records_alone(evidence: Evidence) -> None:
    whole = evidence.aggregated()
    made, document = make(evidence, {"aggregate": whole})
    assert made.state == records.FINAL
    assert promotion_check.faults(document) == []
    assert (document["generated_at"], document["evidence_expires_at"]) == ("2026-11-29T10:00:00Z", "2027-02-27T10:00:00Z")
    assert document["inputs"] == {"aggregate": whole.content}
    assert made.body["decision"] == document["decision"]
    assert made.body["lines"][0].startswith("## demo/candidate: ")
    side = document["decisions"][0]["tasks"][0]["candidate"]
    assert side["inputs"]["runtime"] == [digest.of_bytes(b"runtime")]
    assert all(digest.is_digest(run["session"]) for run in side["evidence"])
    assert document["decisions"][0]["statistics"]["measures"]["cost_usd"]["unit"] == "percent"
    again, _ = make(evidence, {"aggregate": whole, "health": evidence.judged(whole)})
    assert again.body["decision"] == made.body["decision"]


def test_the_same_records_make_the_same_bytes(evidence: Evidence) -> None:
    whole = evidence.aggregated()
    first, second = (make(evidence, {"aggregate": whole})[0] for _ in range(2))
    assert first == second


@pytest.mark.parametrize("state", [None, "unusable"])
def test_without_an_aggregate_the_record_is_final_and_says_insufficient(evidence: Evidence, state: str | None) -> None:
    inputs = {"aggregate": evidence.record("aggregate", "broken", {}, state=state)} if state else {}
    made, document = make(evidence, inputs)
    assert (made.state, made.body["decision"]) == ("final", "insufficient_evidence")
    assert promotion_check.faults(document) == []


def test_a_revoked_session_leaves_the_step_to_look_again(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    whole = evidence.aggregated()
    row = next(row for row in whole.body["rows"] if row["arm"] == "candidate")
    assert evidence.store.drop_record(row["session"][0])
    made, document = make(evidence, {"aggregate": whole})
    assert made.state == records.UNUSABLE
    assert document["decision"] == "insufficient_evidence"
    assert document["evidence"]["lost"] == [f"{row['task']}/candidate/{row['run']}"]


def test_a_run_whose_oracle_could_not_be_asked_is_decided_and_looked_at_no_further(tmp_path: Path) -> None:
    """The cell is tried again by itself; the promotion is then made anew, and until then it is no lost evidence."""
    evidence = Evidence(tmp_path)
    evidence.fill()
    task = next(iter(TASKS))
    failed = {"resolved": False, "error_kind": "oracle-unavailable", "error_detail": "no memory", "ok": True}
    cell = evidence.cell(task, "candidate", 0, state="unusable", **failed)
    assert evidence.store.drop_record(cell.key)
    made, document = make(evidence, {"aggregate": evidence.aggregated()})
    assert (made.state, document["decision"]) == (records.FINAL, "insufficient_evidence")
    assert document["evidence"]["ungraded"] == [f"{task}/candidate/0"]
    assert document["evidence"]["lost"] == []


def test_rows_that_are_reused_are_no_fresh_attempts(evidence: Evidence) -> None:
    """Spec 2.2: an arm that a canary speaks for has no fresh row; all that it solved is still counted."""
    canary = evidence.record("canary", "demo/candidate/incumbent", {"ok": True})
    _, document = make(evidence, {"aggregate": evidence.aggregated(), "canary/incumbent/candidate": canary})
    assert promotion_check.faults(document) == []
    for row in document["decisions"][0]["tasks"]:
        before, now = row["incumbent"], row["candidate"]
        assert (before["runs"], before["fresh_attempts"], before["admissible"], before["resolved_fresh"]) == (3, 0, 0, 0)
        assert (now["fresh_attempts"], now["resolved_fresh"]) == (3, now["resolved"])
    assert any(row["incumbent"]["resolved"] for row in document["decisions"][0]["tasks"])
    _, document = make(evidence, {"aggregate": evidence.aggregated()})
    assert {row["incumbent"]["fresh_attempts"] for row in document["decisions"][0]["tasks"]} == {3}


def skill(evidence: Evidence, arm: str, files: dict[str, bytes]) -> Record:
    tree = trees.pack([Entry(path, "100644", data) for path, data in files.items()])
    body = {"skills": [], "digest": digest.of_bytes(tree)}
    return evidence.record("skill", f"demo/{arm}", body, outputs={"tree": evidence.store.put(tree)})


def test_an_overlay_is_bound_to_the_bytes_that_it_replaces(evidence: Evidence) -> None:
    before = {"fix/SKILL.md": b"old\n", "fix/kept.md": b"same\n"}
    inputs = {
        "aggregate": evidence.aggregated(),
        "skill/incumbent": skill(evidence, "incumbent", before),
        "skill/candidate": skill(evidence, "candidate", before | {"fix/SKILL.md": b"new\n", "fix/added.md": b"x\n"}),
    }
    _, document = make(evidence, inputs, homes={"fix": "corpus/skills/fix"})
    assert list(document["target_base_digests"]) == ["corpus/skills/fix/SKILL.md"]
    assert document["candidate_overlay_digest"] == inputs["skill/candidate"].body["digest"]


def test_tasks_and_plugins_are_bound(evidence: Evidence) -> None:
    task = next(iter(TASKS))
    plugin = {"name": "ce", "version": "1.2.3", "manifest_digest": "b3:0", "files": 2, "bytes": 9, "skills": []}
    oracle = {
        "command_digest": "b3:1",
        "manifest_digest": "b3:2",
        "files": [{"target": "t.py", "digest": "b3:3", "bytes": 4}],
    }
    inputs = {
        "aggregate": evidence.aggregated(),
        "skill/baseline": evidence.record("skill", "demo/baseline", {"skills": [], "plugin": plugin}),
        f"oracle/{task}": evidence.record("oracle", task, oracle),
        f"template/{task}": evidence.record("template", task, {"commit": "c" * 40}),
    }
    _, document = make(evidence, inputs)
    assert document["ce_plugin"]["file_count"] == 2
    first = document["selected_tasks"][0]
    assert (first["oracle_command_digest"], first["resolved_sha"]) == ("b3:1", "c" * 40)
    assert first["oracle_files"] == [{"target": "t.py", "digest": "b3:3", "size": 4}]
