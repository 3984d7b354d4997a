"""Outage, limit, an arm that yields nothing, our own error: whole runs of the real client through the real gateway.

What the loop engine meets in `tests/make/test_outage.py`, where the proxy, the client's own retries and the client's exit
status come in between. SWE-bench_Pro-os 78, claude-code 15685.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.effects.gateway.speaker import Block, Body, Speaker
from tests.make import clients, workspaces
from tests.make.workspaces import LIMITS, Bench, talk
from tests.threats.test_failing_steps_beside_others import break_steps

pytestmark = pytest.mark.slow
KEY = {"BENCH_ANTHROPIC_API_KEY": "sk-ant-planted-0123456789abcdef"}
DONE: list[Block] = [{"type": "text", "text": "Done. You've hit your limit, resets 3am. 429 rate_limit_error"}]


@pytest.fixture
def bench(built: Callable[[str], Path], tmp_path: Path) -> Bench:
    return Bench(workspaces.copied(built("client"), tmp_path / "ws"))


def live(bench: Bench, speaker: Speaker, runs: int, outage: int) -> Bench:
    """The workspace with a live model; nobody tries a session again."""
    clients.play(bench, talk("true"))
    arm = {"name": "agent", "role": "incumbent", "engine": "claude", "params": {"base_url": speaker.address}}
    limits = LIMITS | {"outage": outage, "budget_usd": None}
    return clients.change(bench, arms=[workspaces.ARMS[0], arm], model=workspaces.MODEL, runs=runs, retries=0, limits=limits)


def written(bench: Bench) -> list[dict[str, object]]:
    """The rows of the report, which is there with aggregate and health."""
    for kind in ("aggregates", "health", "reports"):
        assert bench.record(f"artifacts/{kind}/tiny.json")["state"] == "final"
    for name in ("report.md", "index.html"):
        assert bench.path(f"artifacts/reports/tiny/{name}").stat().st_size
    rows = bench.path("artifacts/reports/tiny/results.jsonl").read_text().splitlines()
    return [json.loads(row) for row in rows]


def test_an_outage_stops_the_sweep_and_its_report_is_written(bench: Bench):
    with Speaker(lambda body: 401) as speaker:
        done = live(bench, speaker, runs=6, outage=2).doit("-n", "2", env=KEY)
        assert done.code == 1, done.stderr
        assert "error: tiny: outage: 2 sessions in a row failed systemically" in done.stderr
        asked = len(speaker.asked)
    found = clients.sessions(bench).values()
    cut = [record for record in found if record["state"] == "unusable"]
    held = [record for record in found if record["state"] == "not_run"]
    assert 2 <= len(cut) <= 3
    assert len(cut) + len(held) == 6
    assert {record["reason"] for record in held} == {"outage: 2 sessions in a row failed systemically"}
    assert {(r["body"]["error_kind"], r["body"]["outage"]["cls"]) for r in cut} == {("session-error", "auth")}
    assert asked == sum(sum(record["body"]["calls"].values()) for record in cut), "nothing was asked after the trip"
    assert len([row for row in written(bench) if row["arm"] == "agent"]) == 6


def test_a_limit_pauses_the_queue_and_its_session_runs_again_uncharged(bench: Bench):
    def script(body: Body) -> list[Block] | int:
        return 402 if len(speaker.asked) == 1 else DONE

    before = len(bench.journal())
    with Speaker(script, {"retry-after": "1"}) as speaker:
        done = live(bench, speaker, runs=1, outage=1).doit("-n", "1", env=KEY)
    assert done.code == 0, done.stderr
    assert "usage-limit of the model's service: no session starts before 20" in done.stdout
    (record,) = clients.sessions(bench).values()
    assert (record["state"], record["body"]["error_kind"], record["body"]["outage"]) == ("final", None, None)
    made = [event for event in bench.journal()[before:] if event["event"] == "built" and event["kind"] == "session"]
    assert sorted(event.get("charged", True) for event in made) == [False, True, True], (
        "the limited one, nop, and the good one"
    )
    (cut,) = bench.path("artifacts/revoked").rglob("*.attempt-1*")
    assert json.loads(cut.read_bytes())["body"]["error_class"] == "outage-usage-limit"


def test_a_budget_ends_the_session_that_passes_it_and_holds_the_others_back(bench: Bench):
    def script(body: Body) -> list[Block] | int:
        call = {"type": "tool_use", "id": f"toolu_{len(speaker.asked)}", "name": "Bash"}
        return [call | {"input": {"command": "true", "description": "work"}}]

    with Speaker(script) as speaker:
        done = live(bench, speaker, runs=2, outage=5).doit("-n", "2", "budget_usd=0.001", env=KEY)
        asked = len(speaker.asked)
    assert done.code == 1, done.stdout
    held, cut = sorted(clients.sessions(bench).values(), key=lambda record: str(record["state"]))
    assert (cut["body"]["error_class"], cut["body"]["spent_exact"]) == ("budget-limit", True)
    assert cut["body"]["spent_usd"] >= 0.001
    assert asked == cut["body"]["calls"]["ok"], "nothing was asked beyond it"
    assert (held["state"], held["reason"][:33]) == ("not_run", "the budget of $0.00 is used up ($")


def test_an_arm_without_evidence_and_an_error_of_ours_leave_the_others_alone(bench: Bench):
    clients.play(bench, talk("sed -i 's/- /+ /' adder.sh"))
    workspaces.put(bench.root, "corpus/skills/mend/SKILL.md", workspaces.SKILL)
    arms = [{"name": "agent", "role": "incumbent", "engine": "claude", "replica": n} for n in range(2)]
    arms[1]["name"] = "crash"
    lost = {"name": "lost", "role": "comparator", "engine": "claude", "skills": ["skills/mend"]}
    clients.change(bench, arms=[*arms, lost])
    break_steps(bench, "session:tiny/add/crash/0")
    done = bench.doit("-n", "2")
    assert done.code == 1, done.stdout
    assert "session:tiny/add/crash/0: internal error, see artifacts/logs/" in done.stderr
    assert "error: arm lost of tiny is unusable" in done.stderr
    assert "tiny is incomplete: 2 of 3 cells measured" in done.stderr
    (good,), (bad,) = clients.sessions(bench).values(), clients.sessions(bench, "lost").values()
    assert (good["state"], bad["state"]) == ("final", "unusable")
    assert bad["reason"].startswith("session-error: the cassette does not match")
    assert bench.record("artifacts/cells/tiny/add/agent/0.json")["body"]["resolved"] is True
    assert {row["arm"]: row["ok"] for row in written(bench)} == {"agent": True, "crash": False, "lost": False}
