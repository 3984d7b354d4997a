"""The suite `claude-demo`: the real client through the real gateway on a cassette, every family of arms.

The run itself is marked `slow`; it needs the client (BENCH_CLAUDE, or `claude` on the PATH), no key and no network.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bench
from bench.core import matrix
from bench.make import authoring
from tests.make.workspaces import Bench, Done, shipped_suite

ROOT = Path(bench.__file__).resolve().parent.parent
CORPUS = ROOT / "corpus"
PLANTED = "planted-0123456789abcdef"
CHANGE = "ledger-rounding"
REVIEW = "review-amounts-defect"


SUITE = shipped_suite("claude-demo")


def test_every_family_of_arms_is_there_and_a_bare_doit_leaves_it_alone():
    found = {(arm.phases, arm.skill_tool, arm.graph, arm.plugin is not None) for arm in SUITE.arms if arm.engine == "claude"}
    assert {
        (("plan", "work"), True, True, False),
        (("work",), True, True, False),
        (("review",), True, True, False),
        (("work",), True, True, True),
        (("work",), False, True, False),
        (("work",), False, False, False),
    } == found
    assert {arm.engine for arm in SUITE.arms} == {"nop", "gold", "claude"}
    assert not SUITE.default


def test_it_can_run_as_it_is():
    matrix.check_ready(SUITE, SUITE.arms)


def test_the_cassette_is_what_its_script_says():
    script = CORPUS / "cassettes" / "claude-demo.script.yaml"
    assert authoring.cassette(script) == (CORPUS / "cassettes" / "claude-demo.json").read_bytes()


def doit(bench: Bench) -> Done:
    keys = ("BENCH_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    return bench.doit("-n", "2", "suite:claude-demo", env=dict.fromkeys(keys, f"sk-ant-{PLANTED}"), seconds=900)


def records(root: Path, kind: str) -> dict[str, dict[str, Any]]:
    home = root / "artifacts" / kind / "claude-demo"
    return {path.parent.name: json.loads(path.read_bytes()) for path in home.glob(f"{CHANGE}/*/0.json")} | {
        path.parent.name: json.loads(path.read_bytes())
        for path in home.glob(f"{REVIEW}/*/0.json")
        if path.parent.name not in ("nop", "gold")
    }


@pytest.mark.slow
def test_every_arm_yields_evidence_offline(shipped: Bench):
    root, done = shipped.root, doit(shipped)
    assert done.code == 0, done.stdout[-3000:] + done.stderr[-3000:]
    sessions = {arm: record["body"] for arm, record in records(root, "sessions").items()}
    assert {record["state"] for record in records(root, "sessions").values()} == {"final"}
    assert set(sessions) == {arm.name for arm in SUITE.arms}
    for arm in SUITE.arms:
        if arm.engine != "claude":
            continue
        body = sessions[arm.name]
        assert body["replayed"], arm.name
        assert body["spent_usd"] == 0
        assert body["usage"] == body["gateway"]["usage"] == body["gateway"]["cli_usage"], arm.name
        assert body["gateway"]["foreign_calls"] == 0
        assert [phase["phase"] for phase in body["phases"]] == list(arm.phases)
        assert [phase["skill_invoked"] for phase in body["phases"]] == [
            True if phase in arm.expects else None for phase in arm.phases
        ]
    counts = {arm: body["tool_use_counts"] for arm, body in sessions.items()}
    assert all("mcp__graph__callers" in counts[arm] for arm in ("workflow", "baseline"))
    assert "mcp__graph__callers" not in counts["baseline_nomcp"]
    # The subagent of workflow_direct makes two model calls of its own, and they are counted.
    assert sessions["workflow_direct"]["calls"] == {"ok": 8, "failed": 0}
    _graded(root)
    _nothing_leaks(root, done.stdout + done.stderr)
    again = doit(shipped)
    assert (again.code, "measured  session" in again.stdout) == (0, False)


def _graded(root: Path) -> None:
    cells = {arm: record["body"] for arm, record in records(root, "cells").items()}
    resolved = {arm for arm, body in cells.items() if body["resolved"]}
    assert resolved >= {"gold", "workflow", "workflow_direct", "plugin_direct", "candidate_review"}
    assert not resolved & {"nop", "baseline", "baseline_nomcp"}
    assert all(body["cost_usd"] > 0 for arm, body in cells.items() if arm not in ("nop", "gold"))
    skill = json.loads((root / "artifacts/skills/claude-demo/plugin_direct.json").read_bytes())
    assert skill["body"]["plugin"]["name"] == "second-look"
    _told(root, skill["body"]["plugin"]["manifest_digest"])
    folder = root / "artifacts/reports/claude-demo/cells"
    pages = {arm: (folder / f"{CHANGE}-{arm}-0.html").read_text() for arm in ("workflow", "workflow_direct")}
    for told in ("Phase plan", "Phase work", "make-plan (plan), do-work (work)", "mcp__graph__callers", "model calls ok"):
        assert told in pages["workflow"], told
    assert "subagent · assistant" in pages["workflow_direct"]


def _told(root: Path, manifest: str) -> None:
    """What the rows say of plugin, plan and graph."""
    lines = (root / "artifacts/reports/claude-demo/results.jsonl").read_text().splitlines()
    rows = {row["arm"]: row for row in map(json.loads, lines) if row["task"] == CHANGE}
    plugins = {arm: (row["ce_plugin_version"], row["ce_plugin_manifest_digest"]) for arm, row in rows.items()}
    assert plugins.pop("plugin_direct") == ("1.0.0", manifest)
    assert set(plugins.values()) == {(None, None)}
    assert {arm: row["plan_produced"] for arm, row in rows.items() if row["plan_produced"] is not None} == {"workflow": True}
    assert (rows["workflow"]["gitnexus_tool_uses"] > 0, rows["baseline_nomcp"]["gitnexus_tool_uses"]) == (True, 0)


def _nothing_leaks(root: Path, printed: str) -> None:
    wanted = [text.encode() for text in (PLANTED, str(root))]
    told = [path for path in (root / "artifacts").rglob("*") if path.is_file() and path.name != ".doit.db"]
    leaking = [path.name for path in told for text in wanted if text in path.read_bytes()]
    assert leaking == []
    assert PLANTED not in printed
