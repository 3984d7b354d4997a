"""A whole small task, graded for real: template, oracle, gold, expected, and sessions made by hand."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.core import records
from bench.core.records import Record
from bench.effects import changes, git, trees
from bench.effects.changes import Changes
from bench.effects.context import Context, Made
from bench.effects.trees import Entry
from bench.steps import cell, expected, gold, oracle
from tests.effects.grading.rooms import entries
from tests.steps.making import context_at, job_of

FILES: dict[str, str | bytes] = {
    "src/calc.py": "def double(n):\n    return n + n + 1\n",
    "check.py": "import sys; sys.path.insert(0, 'src')\nimport calc\nassert calc.double(0) < 2\nprint('ok in 0.01s')\n",
}
HIDDEN = (
    "import calc\n\ndef test_zero():\n    assert calc.double(0) == 0\n\ndef test_kept():\n    assert callable(calc.double)\n"
)
FIXED = "def double(n):\n    return n + n\n"
PATCH = (
    "diff --git a/src/calc.py b/src/calc.py\n--- a/src/calc.py\n+++ b/src/calc.py\n"
    "@@ -1,2 +1,2 @@\n def double(n):\n-    return n + n + 1\n+    return n + n\n"
)
ORACLE = {"pytest": True, "paths": ["test_hidden.py"], "pythonpath": ["src"]}
PRICES = {"input": 3.0, "cache_creation": 3.75, "cache_read": 0.3, "output": 15.0}
USAGE = {
    "input_tokens": 1000,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 100,
}


def record(kind: str, made: Made, params: Mapping[str, Any] | None = None, key: str = "k") -> Record:
    """A step's result as the next step gets it."""
    return records.sealed(Record(kind, kind, key, {}, params or {}, made.state, made.reason, made.outputs, made.body))


@functools.cache
def runner_tree() -> bytes:
    """The distributions of this very process that make up pytest, as an assets step would have packed them."""
    home = Path(next(p for p in sys.path if p.endswith("site-packages")))
    packed = [Entry("py.py", "100644", (home / "py.py").read_bytes())]
    for name in ("_pytest", "pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        found = trees.read(home / name, skip=lambda path: path.endswith("__pycache__"))
        packed += [Entry(f"{name}/{e.path}", e.mode, e.data) for e in found]
    return trees.pack(packed)


class Case:
    """One task in a store below `root`."""

    def __init__(self, root: Path, files: Mapping[str, str | bytes] | None = None, hidden: str = HIDDEN) -> None:
        self.context: Context = context_at(root)
        self.files = entries(files or FILES)
        outputs = {"tree": self.context.store.put(trees.pack(self.files))}
        body = {"commit": git.commit_of(self.files), "removed": [], "neutralised": []}
        self.template = record("template", Made(body, outputs))
        self.assets = record("assets", Made({}, {"tree": self.context.store.put(runner_tree())}))
        self.oracle = self.sealed(ORACLE, {"test_hidden.py": hidden.encode()})

    def sealed(self, asked: Mapping[str, Any], files: Mapping[str, bytes]) -> Record:
        """An oracle's record."""
        params = {"oracle": asked, "files": [{"target": target} for target in files]}
        return record("oracle", oracle.make(job_of("oracle", self.context, params, files), self.context))

    def gold(self, patch: str = PATCH) -> Record:
        """The gold record of a patch."""
        job = job_of("gold", self.context, {"exclude": []}, {"patch": patch.encode()}, {"template": self.template})
        return record("gold", gold.make(job, self.context))

    def expected(self, solution: Record | None = None, **more: Any) -> Record:
        """What gold teaches."""
        inputs = {"template": self.template, "gold": solution or self.gold(), "oracle": self.oracle, "assets": self.assets}
        job = job_of("expected", self.context, {"oracle_s": 60} | more, inputs=inputs)
        return record("expected", expected.make(job, self.context))

    def session(self, value: Changes | None, *, events: tuple[Any, ...] = (), **body: Any) -> Record:
        """A session that left these changes; `body` overrides its outcome fields, `state` its state."""
        outputs = {"transcript": self.context.store.put(b"".join(json.dumps(e).encode() + b"\n" for e in events))}
        if value is not None:
            outputs["changes"] = self.context.store.put(value.pack())
        state = body.pop("state", records.FINAL)
        fields = {"error_kind": None, "usage": USAGE, "num_turns": 3, "duration_s": 4.5, "model": "m", "backing": "overlay"}
        return record("session", Made(fields | body, outputs, state), key="session-key")

    def cell(self, session: Record, learned: Record | None, **params: Any) -> Made:
        """The graded cell."""
        inputs = {"session": session, "template": self.template, "oracle": self.oracle, "assets": self.assets}
        if learned is not None:
            inputs["expected"] = learned
        fixed = {
            "verify": "python check.py",
            "verify_s": 60,
            "oracle_s": 60,
            "prices": PRICES,
            "role": "candidate",
            "aliases": {},
        }
        return cell.make(job_of("cell", self.context, fixed | params, inputs=inputs), self.context)


def changed(files: Mapping[str, str | bytes], gone: tuple[str, ...] = ()) -> Changes:
    """Changes by path."""
    return changes.of(entries(files), gone)
