"""The health step: states from the aggregate, canaries where there are some, names made harmless in the lines."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from bench.core import aggregate as aggregates
from bench.core import digest
from bench.core.records import Record, sealed
from bench.effects.context import Context, Job
from bench.effects.store import open_store
from bench.steps import health


def record(kind: str, body: dict[str, Any], state: str = "final") -> Record:
    return sealed(Record(kind, "n", digest.of_bytes(b"k"), {}, {}, state, None, {}, body))


def aggregate(task: str = "t") -> Record:
    rows = []
    for arm, role, kind in (("old", "incumbent", "session-error"), ("new", "candidate", None), ("nop", "calibration", None)):
        identity = {"task": task, "class": "trivial", "arm": arm, "role": role, "run": 0}
        rows.append(aggregates.compact(identity, record("cell", {"error_kind": kind, "oracle_passed": arm == "nop"})))
    return record("aggregate", aggregates.of_task({"task": task, "class": "trivial"}, rows))


def make(tmp_path: Path, inputs: dict[str, Record]) -> tuple[dict[str, Any], list[str]]:
    logged: list[str] = []
    context = Context(open_store(tmp_path / "store"), tmp_path, tmp_path, threading.Event(), logged.append)
    made = health.make(Job("health", "s", digest.of_bytes(b"j"), {}, inputs, {}), context)
    return dict(made.body), logged


def test_a_dead_incumbent_is_fatal_and_a_broken_task_is_named(tmp_path: Path) -> None:
    body, logged = make(tmp_path, {"aggregate": aggregate()})
    assert body["fatal"] == ["old"]
    assert body["arms"]["new"]["state"] == "OBSERVED_OK"
    assert logged == body["lines"]
    assert logged[-1].startswith("broken task t: its oracle passes without any change (nop)")


def test_a_canary_that_lives_speaks_for_the_incumbent(tmp_path: Path) -> None:
    canary = record("cell", {"error_kind": "oracle-failed"})
    body, _ = make(tmp_path, {"aggregate": aggregate(), "canary/old": canary, "canary/gone": canary})
    assert body["fatal"] == []
    assert body["arms"]["old"]["state"] == "DEGRADED", "and hides none of its own sessions that failed"


def test_a_hostile_task_name_stays_on_its_line(tmp_path: Path) -> None:
    body, _ = make(tmp_path, {"aggregate": aggregate("t\n::error ::x\u202e☃")})
    assert body["lines"][-1].startswith("broken task t␊::error ::x⟦U+202E⟧☃: ")
