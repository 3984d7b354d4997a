"""The `review` suite: cases and labels of our own, right by themselves and right for the sources that are shipped."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import bench
from bench.core import labels, review_artifact, scoring
from bench.core.review_artifact import Review
from bench.core.suite import Task
from bench.make import authoring
from tests.make.workspaces import Bench, shipped_suite

ROOT = Path(bench.__file__).resolve().parent.parent
CORPUS, ORACLES = ROOT / "corpus", ROOT / "oracles"


SUITE = shipped_suite("review")
TASKS = {task.id: task for task in SUITE.tasks}


def test_at_least_six_cases_and_two_of_them_clean() -> None:
    clean = [task for task in TASKS.values() if task.cls == "review-clean"]
    assert len(TASKS) >= 6
    assert len(clean) >= 2
    assert {arm.role for arm in SUITE.arms} == {"calibration", "comparator", "incumbent", "candidate"}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
def test_labels_name_lines_of_the_changed_source_and_the_reference_review_finds_them_all(task: Task, tmp_path: Path) -> None:
    assert task.patch is not None
    assert task.oracle is not None
    assert task.gold is not None
    tree = tmp_path / "tree"
    shutil.copytree(CORPUS / task.source["dir"], tree, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    subprocess.run(["git", "apply", str(CORPUS / task.patch)], cwd=tree, check=True)
    source = task.oracle.files[0].source
    known = labels.parse((ORACLES / source).read_bytes(), source)
    review = review_artifact.parse((ORACLES / str(task.gold.patch)).read_bytes())
    assert isinstance(review, Review)
    assert bool(known) == (task.cls == "review-defect")
    patched = (CORPUS / task.patch).read_text("utf-8")
    for label in known:
        assert len((tree / label.path).read_text("utf-8").splitlines()) >= label.line_end
        assert f"+++ b/{label.path}" in patched
    score = scoring.score(review, known)
    assert (score["false_positives"], score["false_negatives"], score["verdict_correct"]) == (0, 0, True)


def test_the_cassette_is_what_its_script_says() -> None:
    script = CORPUS / "cassettes" / "review.script.yaml"
    assert authoring.cassette(script) == (CORPUS / "cassettes" / "review.json").read_bytes()


@pytest.mark.slow
def test_the_candidate_finds_more_and_is_promoted(shipped: Bench) -> None:
    done = shipped.doit("-n", "2", "suite:review")
    assert done.code == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in shipped.path("artifacts/reports/review/results.jsonl").read_text().splitlines()]
    resolved = {
        arm: sum(row["resolved"] for row in rows if row["arm"] == arm) for arm in ("nop", "gold", "plain", "candidate")
    }
    assert resolved == {"nop": 0, "gold": 6, "plain": 4, "candidate": 15}
    assert all(row["review_evidence_valid"] for row in rows if row["arm"] != "nop")
    document = json.loads(shipped.path("artifacts/reports/review/promotion.json").read_bytes())
    assert (document["candidate"], document["decision"]) == ("candidate", "promote")
    [decision] = document["decisions"]
    assert (decision["decision"], decision["metric"]) == ("promote", "review_weighted_f1")
    assert {task["task"] for task in decision["tasks"]} == set(TASKS)
    assert "promotion review/candidate: promote" in done.stdout
