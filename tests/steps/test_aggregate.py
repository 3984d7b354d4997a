"""The aggregate step: the matrix in params is what is counted, records only fill it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from bench.core import digest
from bench.core.records import Record, sealed
from bench.effects.context import Context, Job
from bench.effects.store import open_store
from bench.steps import aggregate


def context(tmp_path: Path) -> Context:
    store = open_store(tmp_path / "store")
    return Context(store, tmp_path, tmp_path, threading.Event(), [].append)


def record(kind: str, body: dict[str, Any], state: str = "final") -> Record:
    return sealed(Record(kind, "n", digest.of_bytes(b"k"), {}, {}, state, None, {}, body))


def job(params: dict[str, Any], inputs: dict[str, Record]) -> Job:
    return Job("aggregate", "s/t", digest.of_bytes(b"j"), params, inputs, {})


CELLS = [["nop", "calibration", 0], ["gold", "calibration", 0], ["a", "incumbent", 0], ["a", "incumbent", 1]]


def test_cells_without_a_record_are_counted_as_not_run(tmp_path: Path) -> None:
    params = {"task": "t", "class": "trivial", "cells": CELLS}
    inputs = {
        "nop/0": record("cell", {"oracle_passed": False, "resolved": False}),
        "gold/0": record("cell", {"oracle_passed": True, "resolved": True}),
        "a/1": record("cell", {"oracle_passed": True, "resolved": True, "cost_usd": 0.5}),
    }
    made = aggregate.make(job(params, inputs), context(tmp_path))
    assert made.state == "final"
    assert (made.body["measured"], made.body["planned"], made.body["complete"]) == (3, 4, False)
    assert made.body["tasks"] == [{"task": "t", "class": "trivial", "calibration": "separates", "why": None}]

    other = aggregate.make(job(params | {"task": "u"}, {}), context(tmp_path))
    suite = {"parts": ["t", "u"], "skipped": ["slow"]}
    merged = aggregate.make(
        job(suite, {"t": record("aggregate", dict(made.body)), "u": record("aggregate", dict(other.body))}),
        context(tmp_path),
    )
    assert (merged.body["measured"], merged.body["planned"]) == (3, 8)
    assert merged.body["skipped"] == ["slow"]
    assert merged.body["tasks"][1]["calibration"] == "unmeasured"


def test_a_suite_that_lacks_a_tasks_aggregate_is_not_complete(tmp_path: Path) -> None:
    cells = [["nop", "calibration", 0]]
    whole = record("cell", {"oracle_passed": False, "resolved": False})
    task = aggregate.make(job({"task": "t", "class": "trivial", "cells": cells}, {"nop/0": whole}), context(tmp_path))
    given = {"t": record("aggregate", dict(task.body))}
    assert aggregate.make(job({"parts": ["t"]}, given), context(tmp_path)).body["complete"] is True
    assert aggregate.make(job({"parts": ["t", "u"]}, given), context(tmp_path)).body["complete"] is False
