"""An outage, a budget and a missing key as a user meets them: real `doit`, loop engine, a model server on loopback."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from bench.effects import clock
from tests.effects.engines.modelserver import ModelServer, ok, openai, serve
from tests.make import workspaces
from tests.make.workspaces import LIMITS, Bench

KEY = {"BENCH_OPENAI_API_KEY": "sk-planted-0123456789abcdef"}
DENIED = (401, {"error": {"message": "no such key", "type": "invalid_api_key"}}, {})
MODEL = "openai/gpt-5"
pytestmark = pytest.mark.slow


def suite(root: Path, server: ModelServer | None = None, *, runs: int = 6, model: str = MODEL, **limits: Any) -> Bench:
    """One loop arm on a server, beside nop."""
    params = {"base_url": server.url + "/v1", "retries": 0} if server else {}
    agent = {"name": "agent", "role": "incumbent", "engine": "loop", "params": params}
    arms = [workspaces.ARMS[0], agent]
    changes = {"arms": arms, "model": model, "runs": runs, "limits": LIMITS | {"budget_usd": None} | limits}
    return Bench(workspaces.write(root, **changes))


def sessions(bench: Bench) -> dict[str, dict[str, Any]]:
    """Run → record of the agent's sessions."""
    folder = bench.path("artifacts/sessions/tiny/add/agent")
    return {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}


def test_an_outage_stops_the_sweep_and_its_report_is_written(tmp_path: Path):
    with serve(DENIED) as server:
        bench = suite(tmp_path, server, outage=2)
        done = bench.doit("-n", "2", env=KEY)
        assert done.code == 1, done.stderr
        assert (
            "error: tiny: outage: 2 sessions in a row failed systemically, the last session:tiny/add/agent/" in done.stderr
        )
        states = [record["state"] for record in sessions(bench).values()]
        assert 2 <= states.count("unusable") <= 3
        assert states.count("unusable") + states.count("not_run") == 6
        assert len(server.asked) == states.count("unusable")
    held = [record["reason"] for record in sessions(bench).values() if record["state"] == "not_run"]
    assert set(held) == {"outage: 2 sessions in a row failed systemically"}
    rows = [json.loads(line) for line in bench.path("artifacts/reports/tiny/results.jsonl").read_text().splitlines()]
    assert len([row for row in rows if row["arm"] == "agent"]) == 6
    assert bench.record("artifacts/sessions/tiny/add/nop/0.json")["state"] == "final"
    for kind in ("aggregates", "health", "reports"):
        assert bench.record(f"artifacts/{kind}/tiny.json")["state"] == "final"


def test_the_next_doit_goes_on_where_the_outage_stopped_it(tmp_path: Path):
    with serve(DENIED, DENIED, ok(openai("done"))) as server:
        bench = suite(tmp_path, server, outage=2, runs=4)
        assert bench.doit("-n", "1", env=KEY).code == 1
        done = bench.doit("-n", "1", env=KEY)
        assert [record["state"] for record in sessions(bench).values()] == ["final"] * 4
    assert "outage" not in done.stderr


def test_an_outage_beats_cancelled(tmp_path: Path):
    """Failure mode 28: an outage and Ctrl-C once had each other's exit code."""
    with serve(DENIED) as server:
        bench = suite(tmp_path, server, outage=1, runs=3)
        bench.edit("corpus/tiny.yaml", '"verify": "test -f adder.sh"', '"verify": "sleep 25"')
        child = bench.start("-n", "1", env={**KEY})
        deadline = clock.monotonic() + 100
        while not any(record["state"] == "not_run" for record in sessions(bench).values()):
            assert clock.monotonic() < deadline
            assert child.poll() is None
            clock.sleep(0.05)
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 1
    assert "outage: 1 sessions in a row" in (tmp_path.parent / "logs-of-test" / "stderr").read_text()


def test_the_budget_holds_sessions_back_and_the_next_doit_goes_on(tmp_path: Path):
    usage = {"prompt_tokens": 100_000, "completion_tokens": 10_000, "total_tokens": 110_000}
    with serve(ok(openai("done", usage=usage))) as server:
        # 100 000 tokens in at 1.25 and 10 000 out at 10 dollars a million: 0.225 a session.
        bench = suite(tmp_path, server, runs=4, budget_usd=0.5)
        done = bench.doit("-n", "2", env=KEY)
        assert done.code == 1, done.stderr
        assert [record["state"] for record in sessions(bench).values()].count("final") == 2
        held = [record["reason"] for record in sessions(bench).values() if record["state"] == "not_run"]
        assert all(reason.startswith("the budget of $0.50 does not cover it ($0.45 spent") for reason in held)
        assert "spent $0.45" in done.stdout
        assert bench.doit("budget_usd=9", env=KEY).code in (0, 1)
        assert [record["state"] for record in sessions(bench).values()] == ["final"] * 4
        assert len(server.asked) == 4, "what was bought is not bought again under another budget"


@pytest.mark.parametrize(
    ("model", "words", "env", "code", "said"),
    [
        (MODEL, [], {}, 3, "no key for OpenAI; set BENCH_OPENAI_API_KEY"),
        ("nobody/knows-this", [], KEY, 3, "knows no provider"),
        ("openai/unheard-of", ["budget_usd=2"], KEY, 2, "no price of openai/unheard-of is known"),
    ],
)
def test_what_cannot_be_paid_is_refused_before_anything_runs(
    tmp_path: Path, model: str, words: list[str], env: dict[str, str], code: int, said: str
):
    bench = suite(tmp_path, model=model, runs=1)
    clean = dict.fromkeys(("BENCH_OPENAI_API_KEY", "OPENAI_API_KEY"), "")
    done = bench.doit(*words, env=clean | env)
    assert done.code == code, done.stdout + done.stderr
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert bench.records() == {}


def test_with_an_expected_cost_an_unknown_price_is_held_and_not_refused(tmp_path: Path):
    bench = suite(tmp_path, model="openai/unheard-of", runs=1)
    done = bench.doit("budget_usd=1", "expected_usd=2", env=KEY)
    assert done.code == 1, done.stdout + done.stderr
    assert "does not cover it" in sessions(bench)["0"]["reason"]
