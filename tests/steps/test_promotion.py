"""The promotion step on records of a small suite: what it looks up, what it says, and when it looks again."""

from __future__ import annotations

import hashlib
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
from tests.core.promotions import binding, params
from tests.steps.evidence import TASKS, Evidence


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    made = Evidence(tmp_path_factory.mktemp("evidence"))
    made.fill()
    return made


def given(**more: Any) -> dict[str, Any]:
    rows = [{"task": task} for task in TASKS]
    return params(rows, "implementation", **({"suite": "demo", "comparators": ["baseline"]} | more))


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


def skill(evidence: Evidence, arm: str, files: dict[str, bytes], overlay: dict[str, bytes] | None = None) -> Record:
    tree = trees.pack([Entry(path, "100644", data) for path, data in (files | (overlay or {})).items()])
    body = {"skills": [], "digest": digest.of_bytes(tree)}
    laid = {f"file:overlay/{path}": digest.of_bytes(data) for path, data in (overlay or {}).items()}
    return evidence.record("skill", f"demo/{arm}", body, outputs={"tree": evidence.store.put(tree)}, inputs=laid)


BOTH = [["incumbent", "candidate"], ["plan", "new-plan"]]
OLD = {"fix/SKILL.md": b"old\n", "fix/kept.md": b"same\n"}
PLAN = {"plan/SKILL.md": b"plan\n"}


def overlaid(evidence: Evidence, fix: dict[str, bytes], plan: dict[str, bytes]) -> dict[str, Record]:
    """Two pairs: one has a skill, the other has that one and another."""
    return {
        "aggregate": evidence.aggregated(),
        "skill/incumbent": skill(evidence, "incumbent", OLD),
        "skill/candidate": skill(evidence, "candidate", OLD, fix),
        "skill/plan": skill(evidence, "plan", OLD | PLAN),
        "skill/new-plan": skill(evidence, "new-plan", OLD | PLAN, fix | plan),
    }


def test_an_overlay_is_bound_to_all_bytes_that_it_replaces(evidence: Evidence) -> None:
    """Those of every arm that is promoted together, and of the mirrors that an apply replaces too."""
    fix = {"fix/SKILL.md": b"new\n", "fix/added.md": b"x\n"}
    homes = {name: f"corpus/skills/{name}" for name in ("fix", "plan")}
    inputs = overlaid(evidence, fix, {"plan/SKILL.md": b"better\n"})
    mirrors = [["mirror", None], ["cursor", ["plan"]]]
    documents = {
        name: make(evidence, inputs, homes=homes, mirrors=mirrors, candidate=name, pairs=BOTH, tasks=[])[1]
        for name in ("candidate", "new-plan")
    }
    [bases] = {json.dumps(document["target_base_digests"]) for document in documents.values()}
    old, plan = (hashlib.sha256(data).hexdigest() for data in (OLD["fix/SKILL.md"], PLAN["plan/SKILL.md"]))
    assert json.loads(bases) == dict.fromkeys(["corpus/skills/fix/SKILL.md", "mirror/fix/SKILL.md"], old) | dict.fromkeys(
        ["corpus/skills/plan/SKILL.md", "mirror/plan/SKILL.md", "cursor/plan/SKILL.md"], plan
    )


def test_an_overlay_has_one_digest_whatever_it_is_laid_over(evidence: Evidence) -> None:
    fix, plan = {"fix/SKILL.md": b"new\n"}, {"plan/SKILL.md": b"better\n"}
    inputs = overlaid(evidence, fix, plan)
    homes = {name: f"corpus/skills/{name}" for name in ("fix", "plan")}

    def bound(inputs: dict[str, Record], **more: Any) -> Any:
        return make(evidence, inputs, homes=homes, tasks=[], **more)[1]["candidate_overlay_digest"]

    both = {bound(inputs, pairs=BOTH, candidate=name) for name in ("candidate", "new-plan")}
    assert [digest.is_digest(one) for one in both] == [True]
    alone = bound(inputs)
    other = skill(evidence, "candidate", {"fix/SKILL.md": b"older\n"}, fix)
    assert bound(inputs | {"skill/candidate": other}) == alone, "what it lies over is not part of it"
    assert both != {alone}
    placed = skill(evidence, "candidate", OLD, {f".claude/skills/{path}": data for path, data in fix.items()})
    assert bound(inputs | {"skill/candidate": placed}) == alone
    assert bound({"aggregate": inputs["aggregate"]}) is None


def test_each_pair_is_compared_on_its_own_tasks(evidence: Evidence) -> None:
    """Spec 8.6: arms of one overlay need not run the same tasks."""
    first, second, third, fourth = TASKS
    tasks = [binding(task, ["candidate"]) for task in (first, third)] + [binding(second, ["incumbent"])]
    tasks.append(binding(fourth, ["candidate", "incumbent"]))
    pairs = [["incumbent", "candidate"], ["baseline", "incumbent"]]
    _, document = make(evidence, {"aggregate": evidence.aggregated()}, pairs=pairs, tasks=tasks)
    assert promotion_check.faults(document) == []
    asked = {one["candidate_arm"]: one for one in document["decisions"]}
    assert {name: [row["task"] for row in one["tasks"]] for name, one in asked.items()} == {
        "candidate": [first, third, fourth],
        "incumbent": [second, fourth],
    }
    seen = {name: one["statistics"]["measures"]["cost_usd"]["tasks"] for name, one in asked.items()}
    assert seen == {"candidate": 3, "incumbent": 2}
    missing = [check for one in asked.values() for check in one["checks"] if check["check"] == "both_arms"]
    assert missing == []


def test_tasks_and_plugins_are_bound(evidence: Evidence) -> None:
    task = next(iter(TASKS))
    plugin = {"name": "ce", "version": "1.2.3", "manifest_digest": "b3:0", "files": 2, "bytes": 9, "skills": []}
    blob = evidence.store.put(b"pass")
    files = [{"target": "t.py", "digest": blob.blob, "bytes": 4}]
    oracle = {"command_digest": "b3:1", "manifest_digest": "b3:2", "files": files}
    assets = {"distributions": [["attrs", "25.1.0"]], "mounts": [{"target": "node_modules", "tree": "b3:4"}], "tree": "b3:5"}
    inputs = {
        "aggregate": evidence.aggregated(),
        "skill/baseline": evidence.record("skill", "demo/baseline", {"skills": [], "plugin": plugin}),
        f"oracle/{task}": evidence.record("oracle", task, oracle, outputs={"file/t.py": blob}),
        f"assets/{task}": evidence.record("assets", task, assets),
        f"template/{task}": evidence.record("template", task, {"commit": "c" * 40}),
    }
    _, document = make(evidence, inputs)
    assert document["ce_plugin"]["file_count"] == 2
    first = document["selected_tasks"][0]
    assert (first["oracle_command_digest"], first["resolved_sha"]) == ("b3:1", "c" * 40)
    sha256 = hashlib.sha256(b"pass").hexdigest()
    assert first["oracle_files"] == [{"target": "t.py", "sha256": sha256, "size": 4, "digest": blob.blob}]
    assert digest.is_digest(first["sandbox_dependency_manifest_digest"])
    assert promotion_check.faults(document) == []
    more = evidence.record("assets", task, assets | {"mounts": []})
    _, other = make(evidence, inputs | {f"assets/{task}": more})
    assert other["selected_tasks"][0]["sandbox_dependency_manifest_digest"] != first["sandbox_dependency_manifest_digest"]
    assert document["selected_tasks"][1]["sandbox_dependency_manifest_digest"] is None
