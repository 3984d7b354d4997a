"""lm-eval 2715 and 4123: a second model, or a changed prompt, with a shared cache got the first one's answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.make import workspaces
from tests.make.workspaces import ARMS, Bench

AGENT = {"name": "agent", "role": "comparator", "engine": "loop"}


@pytest.fixture
def paid(workspace: Bench) -> Bench:
    """The built workspace with an agent's arm that no model has answered yet."""
    suite = json.loads(workspace.path("corpus/tiny.yaml").read_text())
    suite |= {"model": "anthropic/claude-sonnet-4-5", "runs": 2, "arms": [*ARMS, AGENT]}
    workspace.path("corpus/tiny.yaml").write_text(json.dumps(suite))
    return workspace


def rows(bench: Bench, *words: str) -> dict[str, dict[str, Any]]:
    done = bench.doit("plan", "--json", "--all", *words)
    assert done.code == 0, done.stderr
    return {row["step"]: row for row in json.loads(done.stdout)["steps"]}


def keys(bench: Bench, *words: str) -> dict[str, str]:
    """Step → key, of the agent's sessions."""
    found = {}
    for run in (0, 1):
        done = bench.doit("why", f"session:tiny/add/agent/{run}", *words)
        assert done.code == 0, done.stderr
        found[str(run)] = next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("  key "))
    return found


def test_model_prompt_effort_and_run_are_in_the_key(paid: Bench):
    base = keys(paid)
    assert len(set(base.values())) == 2, "each run is a cell of its own"
    seen = set(base.values())
    for words in (["model=openai/gpt-5"], ["effort=high"]):
        other = set(keys(paid, *words).values())
        assert not other & seen
        seen |= other
    paid.edit("corpus/tiny.yaml", "Mend the adder.", "Mend the adder, please.")
    assert not set(keys(paid).values()) & seen
    paid.edit("corpus/tiny.yaml", "Mend the adder, please.", "Mend the adder.")
    assert keys(paid) == base


def test_an_agents_arm_is_planned_as_paid_and_moves_no_other(paid: Bench):
    found = rows(paid)
    assert {step: row["action"] for step, row in found.items() if step.startswith("session:")} == {
        "session:tiny/add/nop/0": "current",
        "session:tiny/add/gold/0": "current",
        "session:tiny/add/agent/0": "measure",
        "session:tiny/add/agent/1": "measure",
    }
    assert found["session:tiny/add/agent/0"]["usd"] is None, "what has not been paid yet is unknown, not nothing"
    text = paid.doit("plan").stdout
    assert "2 sessions of unknown cost" in text


def test_nothing_but_the_model_stands_between_plan_and_spending(tmp_path: Path):
    """`plan` on an empty workspace writes nothing at all."""
    bench = Bench(workspaces.tiny(tmp_path / "ws"))
    assert bench.doit("plan").code == 0
    assert bench.doit("why", "cell:tiny/add/nop/0").code == 0
    assert bench.doit("list", "--all").code == 0
    assert bench.doit("verify").code == 0
    assert not bench.path("artifacts").exists()
