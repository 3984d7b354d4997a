"""Lost runs on one arm must not look like losses, nor vanish.

Incidents: 13 of 14 cells filed as infrastructure failures were graded time-outs, a fault that could only hit the
competitors' arms; "0/7" where 6 of 7 had died in their set-up; an inner time-out that looked like the outer one.
"""

from __future__ import annotations

from pathlib import Path

from tests.steps.evidence import Evidence

LOST = (
    ("infra-error", "setup-timeout", "setup-timeout: limit of time"),
    ("session-error", "session-timeout", "the session reached its limit of 600 s"),
    ("infra-error", "verifier-timeout", "the authored tests did not end by themselves: limit of time"),
)


def lost(tmp_path: Path) -> Evidence:
    """A suite in which three ways of losing a run hit the incumbent alone."""
    evidence = Evidence(tmp_path)
    evidence.fill()
    for run, (kind, cls, detail) in enumerate(LOST):
        facts = {"error_kind": kind, "error_class": cls, "error_detail": detail, "ok": False, "resolved": False}
        evidence.cell("parse-duration", "incumbent", run, b"", "unusable", **facts)
    return evidence


def test_the_three_ways_are_told_apart_and_the_imbalance_is_warned_about(tmp_path: Path) -> None:
    """Case 17 (maka PR 2090, stella PR 1308), and failure mode 13: a time-out is excluded, and seen."""
    evidence = lost(tmp_path)
    made = evidence.reported()
    for name in ("report.md", "index.html"):
        text = evidence.text(made, name)
        assert "Lopsided exclusions" in text
        assert "baseline 0 of 12, incumbent 3 of 12, candidate 0 of 12" in text
        for kind, cls, detail in LOST:
            assert kind in text
            assert cls in text
            assert detail in text
    assert any(str(line).startswith("warning: runs without evidence are not spread evenly") for line in made.body["summary"])


def test_lost_runs_stay_in_the_count_and_out_of_every_rate_and_median(tmp_path: Path) -> None:
    evidence = lost(tmp_path)
    whole = evidence.aggregated()
    group = next(g for g in whole.body["groups"] if g["task"] == "parse-duration" and g["arm"] == "incumbent")
    assert (group["planned"], group["runs"], group["valid"], group["excluded"]) == (3, 3, 0, 3)
    assert group["medians"]["cost_usd"] is None
    judged = evidence.judged(whole).body["arms"]["incumbent"]
    assert (judged["state"], judged["execution_failures"], judged["cause"]) == ("DEGRADED", 3, "undetermined")
    named = {arm["name"]: arm for arm in evidence.reported(whole).body["arms"]}
    assert named["candidate"]["cost_saved_pct"] is None


def test_the_same_losses_on_every_arm_are_no_imbalance(tmp_path: Path) -> None:
    evidence = lost(tmp_path)
    for arm in ("baseline", "candidate"):
        for run in range(3):
            evidence.cell("parse-duration", arm, run, b"", "unusable", error_kind="session-error", resolved=False)
    assert "Lopsided" not in evidence.text(evidence.reported(), "report.md")
