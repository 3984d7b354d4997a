"""Promotions on the real `doit`: told with the suite, asked for by name, laid out, rechecked, and never in the way."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from bench.make.pipeline import Pipeline
from bench.make.promotions import rows
from tests.make import workspaces
from tests.make.workspaces import Bench

GOLDEN = Path(__file__).parents[1] / "golden"
STEP = "promotion:tiny/candidate"
FILE = "artifacts/reports/tiny/promotion.json"
ARMS: list[dict[str, Any]] = [
    {"name": "incumbent", "role": "incumbent", "engine": "loop", "skills": ["skills/mend"]},
    {"name": "candidate", "role": "candidate", "of": "incumbent", "overlay": "candidates/mend"},
    {"name": "direct", "role": "incumbent", "engine": "loop", "skills": ["skills/mend"], "params": {"temperature": 0}},
    {"name": "candidate-direct", "role": "candidate", "of": "direct", "overlay": "candidates/mend"},
    {"name": "other", "role": "candidate", "of": "incumbent", "overlay": "candidates/other"},
]


def test_candidates_of_one_overlay_are_decided_together(tmp_path: Path) -> None:
    """Failure mode 15."""
    workspaces.write(tmp_path, model="some/model", arms=[*workspaces.ARMS, *ARMS])
    for folder in ("skills/mend", "candidates/mend/mend", "candidates/other/mend"):
        workspaces.put(tmp_path, f"corpus/{folder}/SKILL.md", f"{workspaces.SKILL}{folder}\n")
    workspaces.put(tmp_path, "corpus/tiny.lock.json", '{"schema":1,"sources":{},"dependencies":{}}')
    found = {name: (params, needs, hints) for name, params, needs, hints in rows(Pipeline(tmp_path, [], {}))}
    assert list(found) == ["tiny/candidate", "tiny/candidate-direct", "tiny/other"]
    both = [["incumbent", "candidate"], ["direct", "candidate-direct"]]
    assert [found[name][0]["pairs"] for name in found] == [both, both, [["incumbent", "other"]]]
    assert found["tiny/other"][2] == {"file": "promotion-other.json"}
    chosen = Pipeline(tmp_path, [], {"arms": "incumbent,candidate"})
    ((name, params, needs, hints),) = rows(chosen)
    assert (name, params["pairs"], hints) == ("tiny/candidate", both, {"file": "promotion-candidate.json"})
    assert "skill/direct" not in needs
    chosen.check_ready(["tiny"])
    assert {"aggregate", "skill/direct", "oracle/add", "template/add"} <= set(found["tiny/candidate"][1])
    assert found["tiny/candidate"][0]["thresholds"]["candidate-direct"]["min_improvement_pct"] == 5
    assert found["tiny/candidate"][0]["left_out"] == []
    assert params["left_out"] == ["arm nop", "arm gold", "arm direct", "arm candidate-direct"]


@pytest.mark.slow
def test_a_suite_tells_its_promotions_and_one_asked_for_prints_its_table(promoted: Bench) -> None:
    document = json.loads(promoted.path(FILE).read_bytes())
    assert (document["schema_version"], document["decision"]) == (6, "promote")
    asked = promoted.doit(STEP)
    assert asked.code == 0, asked.stderr
    assert "## tiny/candidate: promote" in asked.stdout
    assert "| resolved_margin | all | 3 | 2 | ok |" in asked.stdout
    promoted.path(FILE).unlink()
    assert promoted.doit().code == 0
    assert json.loads(promoted.path(FILE).read_bytes()) == document
    assert "promotion tiny/candidate: promote" in promoted.doit("suite:tiny").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "decision"), [("min_runs=4", "insufficient_evidence"), ("policy=statistical", "keep_incumbent")]
)
def test_what_does_not_promote_fails_only_who_asked_for_it(promoted: Bench, word: str, decision: str) -> None:
    whole = promoted.doit(word, "suite:tiny")
    assert whole.code == 0, whole.stderr
    assert f"promotion tiny/candidate: {decision}" in whole.stdout
    assert [step for step in whole.did if step.startswith(("session:", "cell:"))] == [], "thresholds reach no session"
    asked = promoted.doit(word, STEP)
    assert asked.code == 1
    assert f"error: promotion tiny/candidate is {decision}" in asked.stderr


@pytest.mark.slow
def test_a_pair_of_an_overlay_that_the_command_line_leaves_out_is_not_promoted_unseen(promoted: Bench) -> None:
    """Failure mode 15, by way of `arms=`."""
    suite = json.loads(promoted.path("corpus/tiny.yaml").read_text())
    suite["arms"] += ARMS[2:4]
    promoted.path("corpus/tiny.yaml").write_text(json.dumps(suite))
    workspaces.commit(promoted.root)
    arms = "arms=nop,gold,incumbent,candidate"
    done = promoted.doit("suite:tiny", arms)
    assert done.code == 0, done.stderr
    assert "promotion tiny/candidate: insufficient_evidence" in done.stdout
    assert [step for step in done.did if step.startswith("session:")] == []
    assert "the arm candidate-direct is UNKNOWN" in promoted.doit(STEP, arms).stdout
    applied = promoted.doit("apply:tiny/candidate", arms)
    assert (applied.code, "arms=: leaves out of the suite's file: arm direct" in applied.stderr) == (2, True), applied.stderr


def two_tasks(root: Path, **more: Any) -> Path:
    """A second task beside the first."""
    root = workspaces.write(root, model="some/model", arms=[*workspaces.ARMS, *ARMS[:2]])
    suite = json.loads((root / "corpus/tiny.yaml").read_text())
    suite["tasks"] += [suite["tasks"][0] | {"id": "again"} | more]
    workspaces.put(root, "corpus/tiny.yaml", json.dumps(suite))
    for folder in ("skills/mend", "candidates/mend/mend"):
        workspaces.put(root, f"corpus/{folder}/SKILL.md", workspaces.SKILL)
    workspaces.put(root, "corpus/tiny.lock.json", '{"schema":1,"sources":{},"dependencies":{}}')
    return root


def test_tasks_and_comparators_are_those_of_the_file_whatever_the_words_choose(tmp_path: Path) -> None:
    """Spec 5.1: the selected tasks are the suite's."""
    two_tasks(tmp_path)
    ((_, params, needs, _),) = rows(Pipeline(tmp_path, [], {"tasks": "add"}))
    assert [(task["id"], task["candidate_arms"]) for task in params["tasks"]] == [
        ("add", ["candidate"]),
        ("again", ["candidate"]),
    ]
    assert params["left_out"] == ["task again"]
    assert ("oracle/add" in needs, "oracle/again" in needs) == (True, False)


def test_each_pair_of_a_mixed_overlay_is_asked_for_its_own_tasks(tmp_path: Path) -> None:
    """Spec 8.6."""
    root = two_tasks(tmp_path, oracle={"labels": "labels.json"}, gold="again.json")
    suite = json.loads((root / "corpus/tiny.yaml").read_text())
    look = {"name": "look", "role": "incumbent", "engine": "loop", "skills": ["skills/mend"], "phases": ["review"]}
    suite["arms"][2] |= {"only": ["add"]}
    suite["arms"] += [look | {"only": ["again"]}, ARMS[1] | {"name": "new-look", "of": "look"}]
    workspaces.put(root, "corpus/tiny.yaml", json.dumps(suite))
    found = [params for _, params, _, _ in rows(Pipeline(root, [], {}))]
    for params in found:
        assert params["pairs"] == [["incumbent", "candidate"], ["look", "new-look"]]
        assert [task["candidate_arms"] for task in params["tasks"]] == [["candidate"], ["new-look"]]
        metrics = {name: said["metric"] for name, said in params["thresholds"].items()}
        assert metrics == {"candidate": "cost_usd", "new-look": "review_weighted_f1"}


@pytest.mark.slow
def test_a_broken_task_is_not_mended_by_leaving_out_what_shows_it(promoted: Bench) -> None:
    """Calibration arms, tasks and runs that a command line leaves out are missed by the decision."""
    promoted.edit("oracles/add/check.sh", 'test "$(sh ./adder.sh 2 3)" = 5', "true")
    told = promoted.doit()
    assert "the task is broken" in told.stdout + told.stderr
    for word, left in (("arms=incumbent,candidate", "arm nop, arm gold"), ("runs=2", "1 of 3 runs")):
        asked = promoted.doit(word, STEP)
        assert asked.code == 1
        assert f"the command line leaves out of the suite's file: {left}" in asked.stdout


@pytest.mark.slow
def test_a_candidate_without_its_incumbent_is_planned_and_decides_nothing(promoted: Bench) -> None:
    done = promoted.doit("suite:tiny", "arms=nop,gold,candidate")
    assert done.code == 0, done.stderr
    assert "promotion tiny/candidate: insufficient_evidence" in done.stdout


@pytest.mark.slow
def test_verify_rechecks_what_was_decided_and_reads_older_files(promoted: Bench) -> None:
    assert promoted.doit("verify").code == 0
    shutil.copy(GOLDEN / "promotion-5.json", promoted.path("artifacts/reports/tiny/promotion-old.json"))
    read = promoted.doit("verify")
    assert read.code == 0, read.stderr
    assert "is a promotion of schema 5 that no step here made" in read.stdout
    promoted.path("artifacts/reports/tiny/promotion-odd.json").write_text("[" * 100_000)
    odd = promoted.doit("verify")
    assert (odd.code, "Traceback" in odd.stderr) == (1, False)
    assert "promotion-odd.json: cannot be read: RecursionError" in odd.stderr
    promoted.edit(FILE, '"decision": "promote"', '"decision": "keep_incumbent"')
    edited = promoted.doit("verify")
    assert (edited.code, "promotion.json is not the file that was made" in edited.stderr) == (1, True)


@pytest.mark.slow
def test_a_decision_that_no_step_makes_any_more_is_not_left_for_others_to_read(promoted: Bench) -> None:
    """A suite gets a second candidate: its decisions lie elsewhere from then on."""
    old = promoted.path("artifacts/reports/tiny/promotion-old.json")
    shutil.copy(GOLDEN / "promotion-5.json", old)
    suite = json.loads(promoted.path("corpus/tiny.yaml").read_text())
    suite["arms"].append(ARMS[4])
    promoted.path("corpus/tiny.yaml").write_text(json.dumps(suite))
    workspaces.put(promoted.root, "corpus/candidates/other/mend/SKILL.md", workspaces.SKILL + "\nMore.\n")
    arms = "arms=nop,gold,incumbent,candidate"
    done = promoted.doit("suite:tiny", arms)
    assert done.code == 0, done.stderr
    found = sorted(path.name for path in promoted.path("artifacts/reports/tiny").glob("promotion*"))
    assert found == ["promotion-candidate.json", "promotion-old.json"], "what was brought stays"
    assert promoted.doit("report:tiny", arms).stdout.startswith("with arms")


@pytest.mark.slow
def test_a_revoked_session_is_decided_anew(promoted: Bench) -> None:
    before = json.loads(promoted.path(FILE).read_bytes())
    assert promoted.doit("clean", "session:tiny/add/candidate/0", "--yes").code == 0
    done = promoted.doit()
    assert done.code == 0, done.stderr
    assert done.did[STEP] == "built"
    after = json.loads(promoted.path(FILE).read_bytes())
    assert (before["decision"], after["decision"]) == ("promote", "promote")
    assert (
        before["decisions"][0]["tasks"][0]["candidate"]["evidence"]
        != after["decisions"][0]["tasks"][0]["candidate"]["evidence"]
    )
    assert promoted.doit("verify").code == 0


@pytest.mark.slow
def test_a_corrected_oracle_grades_again_runs_nothing_and_shows_old_and_new(promoted: Bench) -> None:
    """Acceptance: a wrong label or check fixed under oracles/ costs nothing."""
    promoted.edit("oracles/add/check.sh", 'test "$(sh ./adder.sh 2 3)" = 5', 'test "$(sh ./adder.sh 9 9)" = 18 && false')
    done = promoted.doit()
    assert not any(step.startswith("session:") for step in done.did)
    told = promoted.path("artifacts/reports/tiny/report.md").read_text()
    assert "Graded again" in told
    assert "add/candidate/0: resolved yes → no" in told.replace("\\", "")
