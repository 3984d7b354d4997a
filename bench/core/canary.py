"""An arm's canaries: as rows for what judges the measurement, and as a line each for people.

One that stands for a session of the same run is no row: it measured nothing of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.core import aggregate
from bench.core.records import NOT_RUN, STANDS_FOR, Record

KIND = "canary"


def rows(inputs: Mapping[str, Record], arms: Mapping[str, Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Arm → compact rows, from inputs by role (`canary/<arm>/…`) and the arms of an aggregate."""
    found: dict[str, list[dict[str, Any]]] = {}
    for role, record in sorted(inputs.items()):
        kind, _, rest = role.partition("/")
        arm = rest.partition("/")[0]
        if kind == KIND and arm in arms and STANDS_FOR not in record.body:
            identity = {"task": "", "class": "", "arm": arm, "role": arms[arm]["role"], "run": 0}
            found.setdefault(arm, []).append(aggregate.compact(identity, record))
    return found


def lines(inputs: Mapping[str, Record], suite: str, body: Mapping[str, Any]) -> list[str]:
    """One per canary: step, candidate, arm, task, outcome, dollars. `body` is the suite's aggregate."""
    runs: dict[str, set[str]] = {}
    for row in body["rows"]:
        runs.setdefault(row["arm"], set()).add(row["task"])
    found = []
    for role, record in sorted(inputs.items()):
        kind, _, rest = role.partition("/")
        arm, _, candidate = rest.partition("/")
        if kind == KIND:
            both = runs.get(arm, set()) & runs.get(candidate, set())
            task = next((each["task"] for each in body["tasks"] if each["task"] in both), "an unknown task")
            step = f"{KIND}:{suite}/{candidate}/{arm}"
            found.append(f"{step}: {arm} on {task}, for the candidate {candidate}: {_outcome(record)}")
    return found


def _outcome(record: Record) -> str:
    row = aggregate.compact({}, record)
    if row["state"] == NOT_RUN:
        return f"not run ({row.get('reason')})"
    spent = f"${float(record.body.get('spent_usd') or 0):.2f}"
    if stands := record.body.get(STANDS_FOR):
        return f"stands for session:{stands}, measured in the same run; {spent}"
    kind = row.get("error_kind")
    return (f"{kind} ({row.get('reason', 'no detail')})" if kind else "a session that worked") + f"; {spent}"
