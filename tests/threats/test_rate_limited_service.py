"""SWE-bench_Pro-os 78, claude-code 15685, no-mistakes 407, gnhf PR 179: a service that says "later" is waited for.

A limit is known by status and header, never by words; it pauses the whole queue until the reset and a margin, costs the
session no retry, and what it ended is kept. Words in a tool's output or a task are nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.effects.engines.modelserver import ModelServer, ok, openai, serve
from tests.make import workspaces
from tests.make.workspaces import LIMITS, Bench

pytestmark = pytest.mark.slow
KEY = {"BENCH_OPENAI_API_KEY": "sk-planted-0123456789abcdef"}
LATER = (429, {"error": {"message": "slow down", "type": "rate_limit_exceeded"}}, {"retry-after": "1"})
NEXT_WEEK = (429, {"error": {"message": "slow down", "type": "rate_limit_exceeded"}}, {"retry-after": "600000"})


def workspace(root: Path, server: ModelServer, runs: int, retries: int = 0) -> Bench:
    params = {"base_url": server.url + "/v1", "retries": 0}
    arms = [{"name": "agent", "role": "incumbent", "engine": "loop", "params": params}]
    limits = LIMITS | {"budget_usd": None, "outage": 1}
    return Bench(workspaces.write(root, arms=arms, model="openai/gpt-5", runs=runs, retries=retries, limits=limits))


def sessions(bench: Bench) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted(bench.path("artifacts/sessions").rglob("*.json"))]


def test_the_queue_waits_for_the_reset_and_no_retry_is_charged(tmp_path: Path):
    with serve(LATER, ok(openai("You've hit your limit · resets 3am"))) as server:
        bench = workspace(tmp_path, server, 2)
        done = bench.doit("-n", "1", env=KEY)
        assert [record["state"] for record in sessions(bench)] == ["final"] * 2
        assert len(server.asked) == 3
    assert "rate-limit of the model's service: no session starts before 20" in done.stdout
    assert "outage" not in done.stderr
    built = [event for event in bench.journal() if event["event"] == "built" and event["kind"] == "session"]
    assert [event.get("charged", True) for event in built] == [False, True, True]
    assert len(list(bench.path("artifacts/revoked").rglob("*.attempt-1*"))) == 1


def test_a_reset_that_is_too_far_away_is_not_waited_for(tmp_path: Path):
    with serve(NEXT_WEEK) as server:
        bench = workspace(tmp_path, server, 3)
        done = bench.doit("-n", "1", env=KEY)
        assert done.code == 1
        assert sorted(record["state"] for record in sessions(bench)) == ["not_run", "not_run", "unusable"]
        assert len(server.asked) == 1
    held = {record["reason"] for record in sessions(bench) if record["state"] == "not_run"}
    assert all("too far away to wait for" in reason for reason in held)
    (cut,) = [record for record in sessions(bench) if record["state"] == "unusable"]
    assert (cut["body"]["error_kind"], cut["body"]["outage"]["cls"]) == ("session-error", "rate-limit")
