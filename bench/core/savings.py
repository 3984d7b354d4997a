"""What each arm saves against the baseline arm, task by task, and from which class of task on it no longer does.

A saving is a ratio of medians. One that stands against an unresolved run on either side is shown, but flagged: doing less
is cheap. Unknown medians give unknown savings, never 0.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import medians

CLASSES = ("trivial", "investigation-bug", "investigation-feature", "cross-module")
"""From small to large; other classes follow in the order in which they appear."""
MEASURES = ("input_tokens", "cache_tokens", "output_tokens", "cost_usd", "duration_s")

Group = Mapping[str, Any]


def class_order(classes: Sequence[str]) -> list[str]:
    """The classes present, known ones first and from small to large."""
    present = list(dict.fromkeys(classes))
    return [name for name in CLASSES if name in present] + [name for name in present if name not in CLASSES]


def baseline_of(roles: Mapping[str, str]) -> str | None:
    """The arm that savings are told against: `baseline`, else the first comparator whose name starts so, else none."""
    if "baseline" in roles:
        return "baseline"
    return next((name for name, role in roles.items() if role == "comparator" and name.startswith("baseline")), None)


def improvement(reference: float | None, value: float | None) -> float | None:
    """100·(reference − value)/reference, rounded to one decimal (spec 2.8); None if unmeasured or the reference is 0."""
    if reference is None or value is None or reference == 0:
        return None
    return round(100 * (reference - value) / reference, 1)


def rows(groups: Sequence[Group], baseline: str) -> list[dict[str, Any]]:
    """One row per task and arm: {task, class, arm, measures: {name: {base, arm, saved_pct}}, flags: [str]}."""
    base = {group["task"]: group for group in groups if group["arm"] == baseline}
    found = []
    for group in groups:
        if group["arm"] == baseline or group["role"] == "calibration" or group["task"] not in base:
            continue
        other = base[group["task"]]
        measures = {
            name: {
                "base": other["medians"].get(name),
                "arm": group["medians"].get(name),
                "saved_pct": improvement(other["medians"].get(name), group["medians"].get(name)),
            }
            for name in MEASURES
        }
        flags = [f"{side['arm']} resolved {side['resolved']} of {side['planned']}" for side in (other, group) if _open(side)]
        row = {name: group[name] for name in ("task", "class", "arm", "role")}
        found.append(
            row
            | {
                "measures": measures,
                "flags": flags,
                "fewer_resolved": (medians.rate(group) or 0) < (medians.rate(other) or 0),
            }
        )
    return found


def _open(group: Group) -> bool:
    return bool(group["resolved"] < group["planned"])


def by_class(saved: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows grouped: [{class, rows, arms: {arm: {saved_pct, wins, why}}}], classes in order."""
    found = []
    for name in class_order([row["class"] for row in saved]):
        mine = [row for row in saved if row["class"] == name]
        arms = {}
        for arm in dict.fromkeys(row["arm"] for row in mine):
            arms[arm] = _verdict([row for row in mine if row["arm"] == arm])
        found.append({"class": name, "rows": mine, "arms": arms})
    return found


def _verdict(mine: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Whether an arm beats the baseline in one class: cheaper in the median over tasks, and on no task resolving less."""
    costs = [row["measures"]["cost_usd"]["saved_pct"] for row in mine]
    known = [cost for cost in costs if cost is not None]
    saved = round(statistics.median(known), 1) if known and len(known) == len(costs) else None
    fewer = [row["task"] for row in mine if row["fewer_resolved"]]
    if fewer:
        why = "resolves less on " + ", ".join(fewer)
    elif saved is None:
        why = "cost unknown"
    else:
        why = f"{abs(saved):g} % {'cheaper' if saved > 0 else 'dearer'}" if saved else "costs the same"
    return {"saved_pct": saved, "wins": not fewer and saved is not None and saved > 0, "why": why}


def turning_points(classes: Sequence[Mapping[str, Any]], baseline: str) -> list[str]:
    """One sentence per arm: up to which class it is cheaper than the baseline, and why no longer from the next one on.

    Nothing is said of an arm whose costs are unknown throughout but that.
    """
    arms = list(dict.fromkeys(arm for entry in classes for arm in entry["arms"]))
    lines = []
    for arm in arms:
        ran = [(entry["class"], entry["arms"][arm]) for entry in classes if arm in entry["arms"]]
        lost = [(name, verdict["why"]) for name, verdict in ran if not verdict["wins"]]
        won = [name for name, verdict in ran if verdict["wins"]]
        if all(verdict["saved_pct"] is None for _, verdict in ran):
            lines.append(f"what {arm} costs against {baseline} is not known")
        elif not lost:
            lines.append(f"{arm} is cheaper than {baseline} in every class measured ({', '.join(won)})")
        elif not won:
            lines.append(f"{arm} is in no class cheaper than {baseline} without resolving less ({lost[0][0]}: {lost[0][1]})")
        else:
            stops = "stops winning at" if ran[0][1]["wins"] else "does not win at"
            lines.append(f"{arm} is cheaper than {baseline} in {', '.join(won)}; it {stops} {lost[0][0]} ({lost[0][1]})")
    return lines
