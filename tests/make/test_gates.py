"""Gates: a step waits for them, is held back by them, and is not keyed on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.errors import Cancelled, SourceError
from bench.make.gateways import RunGateway
from bench.make.pipeline import Pipeline
from bench.make.workspace import Workspace
from tests.make import workspaces
from tests.make.scripted import build, final, opened, step

GATE = "artifacts/preflight/gate.json"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(tmp_path)


def broken(job: Any, context: Any) -> Any:
    raise SourceError("the relay is deaf")


def gated(work: Any, **more: Any) -> Any:
    return step(work, paid=True, gates={"preflight": GATE}, **more)


def record(workspace: Workspace, target: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((workspace.layout.root / target).read_bytes())
    return found


def test_a_step_is_held_back_until_its_gate_is_final(workspace: Workspace):
    work = final()
    assert build(workspace, gated(work)) == "not_run"
    assert record(workspace, gated(work).target)["reason"] == f"no record of its preflight ({GATE})"
    build(workspace, step(broken, "gate", "preflight"))
    assert build(workspace, gated(work)) == "not_run"
    assert record(workspace, gated(work).target)["reason"] == "its preflight is unusable: the relay is deaf"
    assert work.count == 0
    build(workspace, step(final(), "gate", "preflight"))
    assert build(workspace, gated(work)) == "measured"


def test_a_gate_is_no_part_of_a_key_and_evidence_needs_none(workspace: Workspace):
    work = final()
    assert build(workspace, step(work, paid=True)) == "measured"
    assert build(workspace, gated(work)) == "stands"
    assert build(workspace, gated(work, name="other/t/a/0")) == "restored"
    assert work.count == 1


def test_doit_orders_a_step_behind_its_gate_without_an_input(tmp_path: Path):
    workspaces.tiny(tmp_path)
    declared = Pipeline(tmp_path, [], {}).step("session", "s/t/a/0", {}, gates={"preflight": GATE, "none": None})
    assert declared["task_dep"] == ["preflight:gate"]
    assert declared["file_dep"] == []


def test_a_gateway_is_not_imported_to_be_closed_and_not_opened_afterwards():
    gateway = RunGateway()
    gateway.close()
    gateway.close()
    with pytest.raises(Cancelled):
        gateway()
