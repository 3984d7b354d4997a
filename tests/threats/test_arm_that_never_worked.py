"""An arm whose every run broke must end the run with 1, named, after everything was written; a poor arm must not.

Incidents (failure modes 4 and 5): 41 paid sessions whose artifacts were all empty counted as 41 poor reviews; and the other
way round, a working harness with 51 wrong reviews was taken for a broken one.
"""

from __future__ import annotations

import json

import pytest

from tests.make.workspaces import Bench

pytestmark = pytest.mark.slow
SKILL = "corpus/skills/mend/SKILL.md"
OVERLAY = "corpus/candidates/mend/mend/SKILL.md"


def test_a_dead_incumbent_is_exit_1_after_report_and_promotion_are_written(promoted: Bench) -> None:
    promoted.edit(SKILL, "Look, then", "Look and")  # the cassette has no answers for that skill
    done = promoted.doit()
    assert done.code == 1, done.stdout + done.stderr
    assert "error: arm incumbent of tiny is unusable; see the report for reasons" in done.stderr.splitlines()
    state = promoted.record("artifacts/health/tiny.json")["body"]["arms"]["incumbent"]
    assert (state["state"], state["admissible"], state["cause"]) == ("UNUSABLE", 0, "undetermined")
    document = json.loads(promoted.path("artifacts/reports/tiny/promotion.json").read_bytes())
    assert document["decision"] == "insufficient_evidence"
    assert "UNUSABLE" in promoted.path("artifacts/reports/tiny/report.md").read_text()
    again = promoted.doit()
    assert (again.code, "arm incumbent of tiny is unusable" in again.stderr) == (1, True)


def test_a_dead_candidate_promotes_nothing_and_fails_nothing(promoted: Bench) -> None:
    promoted.edit(OVERLAY, "then check", "never check")
    done = promoted.doit()
    assert done.code == 0, done.stdout + done.stderr
    assert promoted.record("artifacts/health/tiny.json")["body"]["arms"]["candidate"]["state"] == "UNUSABLE"
    assert "promotion tiny/candidate: insufficient_evidence" in done.stdout


def test_an_incumbent_that_solves_nothing_works(promoted: Bench) -> None:
    health = promoted.record("artifacts/health/tiny.json")["body"]
    rows = [json.loads(line) for line in promoted.path("artifacts/reports/tiny/results.jsonl").read_text().splitlines()]
    assert not any(row["resolved"] for row in rows if row["arm"] == "incumbent")
    assert (health["arms"]["incumbent"]["state"], health["fatal"]) == ("OBSERVED_OK", [])
