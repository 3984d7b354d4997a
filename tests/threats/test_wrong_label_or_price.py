"""A wrong label or price is found after the sessions were paid for: everything is judged again, nothing is bought again.

Incidents: published corpora have their labels and expected tests corrected for years (14 of 500 reference patches failed
their own tests); a harness that keys a grade by names gives the old one back, and one that keys a session by its grader
pays for all of it again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.core.reviews import artifact, label_file, raw, raw_label
from tests.make import workspaces
from tests.make.workspaces import Bench

pytestmark = pytest.mark.slow
LABEL = raw_label(path="adder.sh", line_start=1, line_end=1)
FINDING = raw(path="adder.sh", line=1, end_line=1)
CASE = "--- a/adder.sh\n+++ b/adder.sh\n@@ -1 +1 @@\n-echo $(($1 - $2))\n+echo $(($2 - $1))\n"


def folder(bench: Bench, name: str) -> dict[str, bytes]:
    """Path → bytes of the records below artifacts/<name>/."""
    return {path: data for path, data in bench.records().items() if path.startswith(f"artifacts/{name}/")}


def moved(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    """The records that say something else."""
    assert before.keys() == after.keys()
    return {path for path in before if before[path] != after[path]}


def told(bench: Bench) -> str:
    """The report for people, without Markdown's escapes."""
    return bench.path("artifacts/reports/tiny/report.md").read_text().replace("\\", "")


def reviewing(root: Path) -> Bench:
    """Two cases of review with a reference review each, arms nop and gold."""
    tasks: list[dict[str, Any]] = [
        {
            "id": name,
            "class": "review-defect",
            "source": {"dir": "repos/adder"},
            "patch": "reviews/case.patch",
            "prompt": "Review the change.",
            "verify": 'test -s "$BENCH_REVIEW_OUTPUT"',
            "oracle": {"labels": f"{name}/labels.json"},
            "gold": f"{name}/gold.review.json",
        }
        for name in ("first", "second")
    ]
    workspaces.write(root, profile="review", tasks=tasks)
    workspaces.put(root, "corpus/reviews/case.patch", CASE)
    for task in tasks:
        workspaces.put(root, f"oracles/{task['id']}/labels.json", label_file(LABEL).decode())
        workspaces.put(root, f"oracles/{task['id']}/gold.review.json", artifact(FINDING).decode())
    return Bench(root)


def test_a_corrected_label_grades_its_cells_again_and_no_other(tmp_path: Path) -> None:
    bench = reviewing(tmp_path / "ws")
    done = bench.doit()
    assert done.code == 0, done.stdout + done.stderr
    sessions, cells = folder(bench, "sessions"), folder(bench, "cells")
    assert len(sessions) == len(cells) == 4
    bench.edit("oracles/first/labels.json", '"severity": "high"', '"severity": "low"')
    done = bench.doit()
    assert folder(bench, "sessions") == sessions
    assert not any(step.startswith(("session:", "canary:")) for step in done.did), done.did
    after = folder(bench, "cells")
    assert moved(cells, after) == {f"artifacts/cells/tiny/first/{arm}/0.json" for arm in ("nop", "gold")}
    old, new = (json.loads(found["artifacts/cells/tiny/first/gold/0.json"])["body"] for found in (cells, after))
    assert (old["review_weighted_f1"], old["resolved"]) == (1.0, True)
    assert (new["review_severity_accuracy"], new["resolved"]) == (0.0, False), "a low label asks for another verdict"
    assert "1 session was graded again without running; the old and the new figures stand below" in told(bench)
    assert "- first/gold/0: resolved yes → no, oracle passed yes → no, verdict correct yes → no, blocker recall 1 →" in told(
        bench
    )


def test_a_missing_label_shows_the_old_and_the_new_score(tmp_path: Path) -> None:
    bench = reviewing(tmp_path / "ws")
    assert bench.doit().code == 0
    more = raw_label(1, path="adder.sh", line_start=9, line_end=9)
    bench.path("oracles/second/labels.json").write_bytes(label_file(LABEL, more))
    done = bench.doit()
    assert not any(step.startswith("session:") for step in done.did)
    figures = "resolved yes → no, oracle passed yes → no, blocker recall 1 → 0.5, weighted F1 1 → 0.666667, missed 0 → 1"
    assert f"- second/gold/0: {figures}" in told(bench)
    bench.path("oracles/second/labels.json").write_bytes(label_file(LABEL))
    back = bench.doit()
    assert back.code == 0
    assert set(back.did.values()) == {"restored"}, "what was known before is known again"
    assert "Graded again" not in told(bench)


def test_a_changed_price_prices_again_and_runs_nothing(built: Callable[[str], Path], tmp_path: Path) -> None:
    bench = Bench(workspaces.copied(built("promoted"), tmp_path / "ws"))
    paid = folder(bench, "sessions") | folder(bench, "canaries")
    cells = folder(bench, "cells")
    bench.edit("corpus/prices.json", '"output": 15', '"output": 30')
    done = bench.doit()
    assert done.code == 0, done.stdout + done.stderr
    assert not any(step.startswith(("session:", "canary:")) for step in done.did), done.did
    assert folder(bench, "sessions") | folder(bench, "canaries") == paid
    after = folder(bench, "cells")
    agents = {path for path in cells if "/incumbent/" in path or "/candidate/" in path}
    assert len(agents) == 6
    assert moved(cells, after) == agents
    for path in agents:
        old, new = (json.loads(found[path])["body"] for found in (cells, after))
        # 1000 tokens in and 100 out per answer, three answers: 3 × 100 × 15 more dollars a million.
        assert round(new["cost_usd"] - old["cost_usd"], 6) == 0.0045
        assert {k: v for k, v in new.items() if "usd" not in k} == {k: v for k, v in old.items() if "usd" not in k}
    assert "- add/candidate/0: cost_usd 0.0135 → 0.018" in told(bench)
    document = json.loads(bench.path("artifacts/reports/tiny/promotion.json").read_bytes())
    assert document["decisions"][0]["tasks"][0]["candidate"]["cost_usd"] == 0.018


def test_who_graded_again_and_who_graded_once_have_the_same_evidence(tmp_path: Path) -> None:
    again = reviewing(tmp_path / "again")
    assert again.doit("session:tiny/*").code == 0
    once = Bench(workspaces.copied(again.root, tmp_path / "once"))
    assert again.doit().code == 0
    for bench in (again, once):
        bench.edit("oracles/first/labels.json", '"severity": "high"', '"severity": "low"')
        bench.doit()
    assert again.records() == once.records()
    assert "Graded again" in told(again)
    assert "first/gold/0: resolved yes → no" in again.path("artifacts/reports/tiny/index.html").read_text()
    assert "Graded again" not in told(once)
    for one, other in ((again, once), (once, again)):
        merged = Bench(workspaces.copied(one.root, tmp_path / f"{one.root.name}-merged"))
        shutil.copytree(other.path("artifacts/store"), merged.path("artifacts/store"), dirs_exist_ok=True)
        verified = merged.doit("verify")
        assert verified.code == 0, verified.stderr
        assert told(merged) == told(one)
    # What was laid out stands: nothing is to be done, and what is written over it is seen.
    assert again.moving() == {}
    report = again.path("artifacts/reports/tiny/report.md")
    right = report.read_bytes()
    report.write_text(right.decode().replace("yes → no", "no → yes"))
    assert "report.md is not the file that was made" in again.doit("verify").stderr
    again.doit("report:tiny")
    assert report.read_bytes() == right
