"""Small made suites for the tests of the statistics: compact rows from counts, or drawn at given rates."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any


def row(arm: str, task: str, run: int, **fields: Any) -> dict[str, Any]:
    return {"task": task, "arm": arm, "role": "x", "run": run, "state": "final", "resolved": False} | fields


def rows(arm: str, counts: Sequence[tuple[int, int]], **fields: Any) -> list[dict[str, Any]]:
    """One task t0, t1, … per (resolved, runs)."""
    return [
        row(arm, f"t{place:03d}", run, resolved=run < passed, **fields)
        for place, (passed, runs) in enumerate(counts)
        for run in range(runs)
    ]


def drawn(arm: str, rates: Sequence[float], runs: int, chance: random.Random) -> list[dict[str, Any]]:
    """Independent runs at a rate per task."""
    return rows(arm, [(sum(chance.random() < rate for _ in range(runs)), runs) for rate in rates])
