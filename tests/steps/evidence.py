"""A small suite's finished evidence, made without an agent: sessions and cells in a store, the rest by the real steps."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.core import digest
from bench.core.records import Blob, Record, sealed
from bench.effects.context import Context, Job, Made
from bench.effects.store import Store, open_store
from bench.steps import aggregate, health, report

ARMS = [
    {"name": "nop", "role": "calibration", "of": None},
    {"name": "gold", "role": "calibration", "of": None},
    {"name": "baseline", "role": "comparator", "of": None},
    {"name": "incumbent", "role": "incumbent", "of": None},
    {"name": "candidate", "role": "candidate", "of": "incumbent"},
]
TASKS = {
    "status-alias": "trivial",
    "parse-duration": "investigation-bug",
    "list-filter": "investigation-feature",
    "retry-across-modules": "cross-module",
}
PARAMS: dict[str, Any] = {
    "suite": "demo",
    "profile": "implementation",
    "arms": ARMS,
    "model": "replay/demo",
    "effort": None,
    "runs": 3,
}
CHANCE = {"baseline": 0.5, "incumbent": 0.6, "candidate": 0.95}
EFFORT = {"baseline": 1.0, "incumbent": 0.9, "candidate": 0.7}
PATCH = b"""diff --git a/src/clock/parse.py b/src/clock/parse.py
index 1111111..2222222 100644
--- a/src/clock/parse.py
+++ b/src/clock/parse.py
@@ -3,5 +3,7 @@ def parse(text):
     parts = text.split(":")
-    return sum(int(p) for p in parts)
+    total = 0
+    for part in parts:
+        total = total * 60 + int(part)
+    return total
"""


def transcript(words: str = "I will look at the parser first.") -> bytes:
    """Six events of a session in the stream form."""
    call = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "sed -n 1,20p src/clock/parse.py"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "def parse(text):\n    parts = text.split(':')\n"}
    events: list[dict[str, Any]] = [
        {"type": "system", "subtype": "init", "model": "demo"},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": words}, call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Minutes were added as seconds; fixed."}]},
        },
        {"type": "result", "subtype": "success", "num_turns": 2},
    ]
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


@dataclass
class Evidence:
    """Where made evidence is kept, and how it is told apart: `seed` decides outcomes, nothing else is random."""

    folder: Path
    params: dict[str, Any] = field(default_factory=lambda: dict(PARAMS))
    seed: int = 7

    def __post_init__(self) -> None:
        self.store: Store = open_store(self.folder / "store")
        self.random = random.Random(self.seed)
        self.logged: list[str] = []
        self.context = Context(self.store, self.folder, self.folder, threading.Event(), self.logged.append)
        self.cells: dict[str, dict[str, Record]] = {}

    def record(self, kind: str, name: str, body: dict[str, Any], **more: Any) -> Record:
        """A sealed record, entered in the store."""
        made = sealed(
            Record(
                kind=kind,
                name=name,
                key=digest.of("test/key/1", [kind, name]),
                inputs=more.get("inputs", {}),
                params=more.get("params", {}),
                state=more.get("state", "final"),
                reason=more.get("reason"),
                outputs=more.get("outputs", {}),
                body=body,
            )
        )
        self.store.put_record(made)
        return made

    def cell(self, task: str, arm: str, run: int, said: bytes | None = None, state: str = "final", **facts: Any) -> Record:
        """One session and its cell."""
        name = f"{self.params['suite']}/{task}/{arm}/{run}"
        talked = transcript() if said is None else said
        spoken = {"transcript": self.store.put(talked)} if talked else {}
        paid = arm not in ("nop", "gold")
        ran = {"model": "demo-large" if paid else None, "measured_at": "2026-11-29T10:00:00Z", "evidence_diagnostics": []}
        session = self.record(
            "session",
            name,
            ran | {"pressure": {"cpu_some_pct": 3.5}, "setup": {"exit": 0, "tail": "installed"}},
            params={
                "prompt": "Durations such as 1:30 are parsed wrongly. Find out why and fix it.",
                "engine": "loop" if paid else arm,
            },
            inputs={"template": digest.of_bytes(b"template"), "runtime": digest.of_bytes(b"runtime")},
            outputs=spoken,
        )
        body = {"session_key": session.key, "error_kind": None, "alarms": [], "backing": "overlay"} | facts
        patch: dict[str, Blob] = {"patch": self.store.put(PATCH)} if body.get("diff_files") else {}
        judged = {"session": session.content, "oracle": digest.of_bytes(b"oracle"), "template": digest.of_bytes(b"template")}
        record = self.record("cell", name, body, inputs=judged, outputs=patch, state=state, reason=facts.get("error_detail"))
        self.cells.setdefault(task, {})[f"{arm}/{run}"] = record
        return record

    def fill(self) -> None:
        """Every cell of TASKS × ARMS: calibration once, the others three times, with plausible numbers."""
        for place, task in enumerate(TASKS):
            self.cell(
                task,
                "nop",
                0,
                b"",
                resolved=False,
                authored_tests_passed=True,
                oracle_passed=False,
                diff_files=0,
                duration_s=0.1,
            )
            self.cell(
                task,
                "gold",
                0,
                b"",
                resolved=True,
                authored_tests_passed=True,
                oracle_passed=True,
                diff_files=1,
                duration_s=0.1,
            )
            for arm in CHANCE:
                for run in range(3):
                    self.cell(task, arm, run, **self.outcome(arm, place))

    def outcome(self, arm: str, size: int) -> dict[str, Any]:
        """Plausible numbers of one session."""
        good = self.random.random() < CHANCE[arm]
        work = EFFORT[arm] * (1 + size) * self.random.uniform(0.85, 1.2) * (1.6 if arm == "candidate" and size == 3 else 1)
        return {
            "ok": True,
            "resolved": good,
            "error_kind": None if good else "oracle-failed",
            "authored_tests_passed": True,
            "authored_test_output": "..........\n10 passed in 0.02s\n",
            "oracle_passed": good,
            "oracle": {"passed": 6 if good else 4, "failed": 0 if good else 2},
            "skill_invoked": True if arm == "candidate" else None,
            "cost_usd": round(0.021 * work, 4),
            "spent_usd": 0.0,
            "replayed": True,
            "model": "demo-large",
            "duration_s": round(31 * work, 1),
            "num_turns": 4 + size,
            "input_tokens": round(1500 * work),
            "cache_creation_input_tokens": round(4000 * work),
            "cache_read_input_tokens": round(21000 * work),
            "output_tokens": round(800 * work),
            "tool_use_counts": {"bash": 3 + size},
            "diff_files": 1,
            "diff_insertions": 4,
            "diff_deletions": 1,
            "churn_digest": digest.of_bytes(self.random.randbytes(8)),
        }

    def matrix(self, task: str) -> list[list[Any]]:
        """The planned cells of a task."""
        runs = self.params["runs"]
        return [[a["name"], a["role"], r] for a in ARMS for r in range(1 if a["role"] == "calibration" else runs)]

    def made(self, step: Any, name: str, params: dict[str, Any], inputs: dict[str, Record]) -> Record:
        """Run a step on records and keep what it made."""
        job = Job(step.KIND, name, digest.of("test/key/1", [step.KIND, name]), params, inputs, {})
        result: Made = step.make(job, self.context)
        return self.record(step.KIND, name, json.loads(digest.canonical(dict(result.body))), outputs=result.outputs)

    def aggregated(self, skipped: tuple[str, ...] = (), classes: dict[str, str] | None = None) -> Record:
        """The suite's aggregate, by way of one per task."""
        parts = {}
        for task, cls in (classes or TASKS).items():
            params = {"task": task, "class": cls, "cells": self.matrix(task)}
            parts[task] = self.made(aggregate, f"demo/{task}", params, self.cells.get(task, {}))
        return self.made(aggregate, "demo", {"parts": list(parts), "skipped": list(skipped)}, parts)

    def reported(self, whole: Record | None = None) -> Record:
        """The report's record."""
        whole = whole or self.aggregated()
        return self.made(report, "demo", self.params, {"aggregate": whole})

    def judged(self, whole: Record) -> Record:
        """The health record."""
        return self.made(health, "demo", {}, {"aggregate": whole})

    def lay_out(self, record: Record, folder: Path) -> Path:
        """The report's files in a directory, as they are read; returns its index.html."""
        for name, blob in record.outputs.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.store.get(blob.blob))
        return folder / "index.html"

    def text(self, record: Record, name: str) -> str:
        """One of the report's files as text."""
        return self.store.get(record.outputs[name].blob).decode()
