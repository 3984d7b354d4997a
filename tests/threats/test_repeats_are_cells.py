"""promptfoo 360 and 1431: the same cell repeated five times was answered once from the cache, and shown five times."""

from __future__ import annotations

import json
from pathlib import Path

from tests.make import workspaces
from tests.make.workspaces import ARMS, Bench


def test_five_repeats_are_five_sessions_each_kept(tmp_path: Path):
    arms = [ARMS[0] | {"name": f"nop{n}", "replica": n} for n in range(5)]
    bench = Bench(workspaces.write(tmp_path / "ws", arms=arms))
    done = bench.doit()
    assert done.code == 0, done.stderr
    assert [did for step, did in done.did.items() if step.startswith("session:")] == ["measured"] * 5
    keys = {bench.record(f"artifacts/sessions/tiny/add/nop{n}/0.json")["key"] for n in range(5)}
    assert len(keys) == 5
    assert bench.doit("-n", "1").did == {}
    bench.path("artifacts/.doit.db").unlink()
    assert bench.doit("-n", "1").did == {}


def test_runs_of_an_agents_arm_are_told_apart_by_their_number(workspace: Bench):
    suite = json.loads(workspace.path("corpus/tiny.yaml").read_text())
    suite |= {"model": "anthropic/claude-sonnet-4-5", "runs": 5}
    suite["arms"] = [{"name": "agent", "role": "comparator", "engine": "loop"}]
    workspace.path("corpus/tiny.yaml").write_text(json.dumps(suite))
    lines = workspace.doit("why", "session:tiny/*").stdout.splitlines()
    assert len({line for line in lines if line.startswith("  key ")}) == 5
