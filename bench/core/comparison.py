"""Arms side by side: over the suite, and task by task with differences against the incumbent. Pure arithmetic on aggregates.

A difference is told only where both sides were measured; calibration arms are shown and never compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import cost, error_kinds, medians, savings
from bench.core.records import NOT_RUN
from bench.core.suite import CALIBRATION, INCUMBENT

Mapped = Mapping[str, Any]
SUM = ("planned", "runs", "valid", "excluded", "not_run", "resolved")


def reference_of(arm: str, roles: Mapping[str, str], of: Mapping[str, str | None]) -> str | None:
    """The arm that an arm is compared with: a candidate's own incumbent, else the suite's first one; None for itself."""
    if roles[arm] == CALIBRATION:
        return None
    incumbents = [name for name, role in roles.items() if role == INCUMBENT]
    wanted = of.get(arm) or (incumbents[0] if incumbents else None)
    return None if wanted == arm or wanted not in roles else wanted


def difference(group: Mapped, other: Mapped) -> dict[str, Any]:
    """{resolved_points: percentage points gained | None, <measure>_pct: saved percent | None} against another group."""
    found: dict[str, Any] = {"resolved_points": _points(group, other)}
    for name in ("cost_usd", "duration_s", "output_tokens"):
        found[f"{name}_pct"] = savings.saved(name, other, group)
    return found


def table(aggregate: Mapped, of: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """[{class, tasks: [{task, calibration, why, cells: {arm: group + difference + against}}]}], small classes first."""
    roles = {name: aggregate["arms"][name]["role"] for name in aggregate["arm_order"]}
    groups: dict[str, dict[str, Mapped]] = defaultdict(dict)
    for group in aggregate["groups"]:
        groups[group["task"]][group["arm"]] = group
    found = []
    for name in savings.class_order([task["class"] for task in aggregate["tasks"]]):
        tasks = []
        for task in (entry for entry in aggregate["tasks"] if entry["class"] == name):
            mine = groups[task["task"]]
            cells = {}
            for arm, group in mine.items():
                against = reference_of(arm, roles, of)
                other = mine.get(against) if against else None
                gap = difference(group, other) if other else None
                cells[arm] = dict(group) | {"against": against if other else None, "difference": gap}
            tasks.append({"task": task["task"], "calibration": task["calibration"], "why": task["why"], "cells": cells})
        found.append({"class": name, "tasks": tasks})
    return found


def arms(aggregate: Mapped, judged: Mapped, of: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """One entry per arm over the suite: counts, state of health, total and typical cost, differences against its reference.

    The cost difference is the median over the tasks that both arms measured; total costs are sums over all attempts.
    """
    roles = {name: aggregate["arms"][name]["role"] for name in aggregate["arm_order"]}
    tasks = [task for entry in table(aggregate, of) for task in entry["tasks"]]
    found = []
    for name in aggregate["arm_order"]:
        arm = aggregate["arms"][name]
        mine = [row for row in aggregate["rows"] if row["arm"] == name]
        begun = medians.attempts(mine)
        listed = cost.total(row.get("cost_usd") for row in begun)
        against = reference_of(name, roles, of)
        gaps = [task["cells"][name]["difference"] for task in tasks if task["cells"].get(name, {}).get("difference")]
        state = judged["arms"].get(name, {})
        found.append(
            {key: arm[key] for key in SUM}
            | {"name": name, "role": arm["role"], "of": of.get(name), "against": against}
            | {"state": state.get("state"), "fatal": bool(state.get("fatal")), "error_kinds": dict(arm["error_kinds"])}
            | {"cost_usd": listed.known if not listed.unknown and listed.measured else None, "cost_text": listed.text}
            | {"cost_known_usd": listed.known if listed.measured else None, "cost_unknown": listed.unknown}
            | {"spent_usd": cost.total(row.get("spent_usd") for row in begun).known}
            | {"replayed": sum(bool(row.get("replayed")) for row in begun)}
            | {"medians": {key: medians.median([row.get(key) for row in medians.valid(mine)]) for key in savings.MEASURES}}
            | {"resolved_points": _shared_points(tasks, name, against) if against else None}
            | {"cost_saved_pct": medians.typical([gap["cost_usd_pct"] for gap in gaps])}
            | {"time_saved_pct": medians.typical([gap["duration_s_pct"] for gap in gaps])}
        )
    return found


def _points(mine: Mapped, other: Mapped) -> float | None:
    gained, base = medians.rate(mine), medians.rate(other)
    return None if gained is None or base is None else round(100 * (gained - base), 1)


def _shared_points(tasks: Sequence[Mapped], arm: str, against: str) -> float | None:
    """Points gained over the tasks that both arms run: an arm may run fewer (`only`), and is not compared on the others."""
    pairs = [[task["cells"][name] for name in (arm, against)] for task in tasks if {arm, against} <= task["cells"].keys()]
    mine, other = ({key: sum(pair[side][key] for pair in pairs) for key in ("resolved_valid", "valid")} for side in (0, 1))
    return _points(mine, other)


def exclusions(aggregate: Mapped) -> list[dict[str, Any]]:
    """Why runs are no evidence: [{arm, kind, class, count, of, where, reasons}] by arm, largest first.

    A set-up that failed, an agent that timed out and a verifier that did are three entries: `class` tells them apart.
    """
    planned = Counter(row["arm"] for row in aggregate["rows"])
    lost: dict[tuple[str, str, str], list[Mapped]] = defaultdict(list)
    for row in aggregate["rows"]:
        if row["state"] == NOT_RUN:
            lost[row["arm"], "not run", ""].append(row)
        elif error_kinds.excluded(row):
            kind = row.get("error_kind")
            kind = kind if kind in error_kinds.EXCLUDED else error_kinds.REVIEW_INVALID
            lost[row["arm"], kind, row.get("error_class") or ""].append(row)
    found = [
        {
            "arm": arm,
            "kind": kind,
            "class": cls if cls != kind else "",
            "count": len(same),
            "of": planned[arm],
            "where": [f"{row['task']}/{row['run']}" for row in same],
            "reasons": list(dict.fromkeys(row.get("reason") or "no reason recorded" for row in same)),
        }
        for (arm, kind, cls), same in lost.items()
    ]
    order = {arm: place for place, arm in enumerate(aggregate["arm_order"])}
    return sorted(found, key=lambda entry: (order[str(entry["arm"])], -int(entry["count"]), entry["kind"], entry["class"]))
