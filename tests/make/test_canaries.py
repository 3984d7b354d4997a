"""A new candidate asks for one fresh session of what it is compared with; nothing that is reused is touched by it."""

from __future__ import annotations

import pytest

from tests.make.workspaces import Bench

CANARY = "artifacts/canaries/tiny/candidate/incumbent.json"
OVERLAY = "corpus/candidates/mend/mend/SKILL.md"
pytestmark = pytest.mark.slow


def reports(bench: Bench) -> list[str]:
    """Both forms of the report, without Markdown's escapes."""
    files = [bench.path(f"artifacts/reports/tiny/{name}") for name in ("report.md", "index.html")]
    return [file.read_text().replace("\\", "") for file in files]


def fresh(bench: Bench) -> int:
    found: int = bench.record("artifacts/health/tiny.json")["body"]["arms"]["incumbent"]["fresh_attempts"]
    return found


def test_an_arm_that_was_measured_in_the_same_run_needs_no_session_more(promoted: Bench) -> None:
    body = promoted.record(CANARY)["body"]
    assert (body["stands_for"], body["spent_usd"]) == ("tiny/add/incumbent/0", 0.0)
    assert fresh(promoted) == 3
    assert promoted.moving() == {}
    said = "for the candidate candidate: stands for session:tiny/add/incumbent/0, measured in the same run; $0.00"
    assert all(f"canary:tiny/candidate/incumbent: incumbent on add, {said}" in text for text in reports(promoted))


def test_a_new_candidate_is_met_by_one_fresh_session_of_the_reused_arm(promoted: Bench) -> None:
    before = {path: data for path, data in promoted.records().items() if "/incumbent/" in path}
    assert len(before) == 6
    promoted.edit(OVERLAY, "then check", "and check")
    done = promoted.doit()
    assert done.did["canary:tiny/candidate/incumbent"] == "measured", done.stdout + done.stderr
    assert not [step for step in done.did if step.startswith("session:tiny/add/incumbent")]
    assert {path: data for path, data in promoted.records().items() if path in before} == before
    canary = promoted.record(CANARY)
    assert "stands_for" not in canary["body"]
    assert canary["key"] != promoted.record("artifacts/sessions/tiny/add/incumbent/0.json")["key"]
    assert fresh(promoted) == 1
    [decision] = promoted.record("artifacts/reports/tiny/promotion.json")["decisions"]
    assert [decision["tasks"][0][arm]["fresh_attempts"] for arm in ("incumbent", "candidate")] == [0, 3]
    for text in reports(promoted):
        assert "1 of 1 fresh attempts admissible (its canaries: all else is reused)" in text
        assert "incumbent on add, for the candidate candidate: a session that worked; $0.00" in text
