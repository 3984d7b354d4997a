"""What each arm saves against the baseline arm, task by task, and from which class of task on it no longer does.

A saving is a ratio of medians. One that stands against an unresolved run on either side is shown, but flagged: doing less
is cheap. Unknown medians give unknown savings, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import medians
from bench.core.suite import CALIBRATION, COMPARATOR

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
    return next((name for name, role in roles.items() if role == COMPARATOR and name.startswith("baseline")), None)


def saved(name: str, reference: Group, other: Group) -> float | None:
    """`medians.improvement` of a measure between two groups' medians."""
    gain = medians.improvement(name, *(group["medians"].get(name) for group in (reference, other)))
    return None if gain is None else float(gain)


def rows(groups: Sequence[Group], baseline: str) -> list[dict[str, Any]]:
    """One row per task and arm: {task, class, arm, measures: {name: {base, arm, saved_pct}}, flags}."""
    base = {group["task"]: group for group in groups if group["arm"] == baseline}
    found = []
    for group in groups:
        if group["arm"] == baseline or group["role"] == CALIBRATION or group["task"] not in base:
            continue
        other = base[group["task"]]
        measures = {
            name: {
                "base": other["medians"].get(name),
                "arm": group["medians"].get(name),
                "saved_pct": saved(name, other, group),
            }
            for name in MEASURES
        }
        flags = [f"{side['arm']} resolved {side['resolved']} of {side['planned']}" for side in (other, group) if _open(side)]
        row = {name: group[name] for name in ("task", "class", "arm", "role")}
        row |= {"resolved": [group["resolved_valid"], group["valid"]]}
        row |= {"base_resolved": [other["resolved_valid"], other["valid"]]}
        found.append(row | {"measures": measures, "flags": flags})
    return found


def _open(group: Group) -> bool:
    return bool(group["resolved"] < group["planned"])


def by_class(saved: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows grouped: [{class, rows, arms: {arm: verdict}}], classes in order."""
    found = []
    for name in class_order([row["class"] for row in saved]):
        mine = [row for row in saved if row["class"] == name]
        arms = {}
        for arm in dict.fromkeys(row["arm"] for row in mine):
            arms[arm] = _verdict([row for row in mine if row["arm"] == arm])
        found.append({"class": name, "rows": mine, "arms": arms})
    return found


def _verdict(mine: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Arm and baseline in one class: who resolves the larger share wins; of equals, who costs less in the median task."""
    saved = medians.typical([row["measures"]["cost_usd"]["saved_pct"] for row in mine])
    own, base = ([sum(row[side][i] for row in mine) for i in (0, 1)] for side in ("resolved", "base_resolved"))
    # As products, so that equal shares are equal.
    lead = own[0] * base[1] - base[0] * own[1]
    winner = None if not own[1] or not base[1] else _sign(lead) or _sign(saved or 0)
    return {"saved_pct": saved, "resolved": own, "base_resolved": base, "winner": winner}


def _sign(value: float) -> str | None:
    return "arm" if value > 0 else "baseline" if value < 0 else None


def told(arm: str, baseline: str, verdict: Mapping[str, Any]) -> str:
    """`lean 3/3, baseline 2/3, 12.5 % dearer`: a class's verdict in words."""
    saved = verdict["saved_pct"]
    words = "cost unknown" if saved is None else "the same cost"
    if saved:
        words = f"{abs(saved):g} % {'cheaper' if saved > 0 else 'dearer'}"
    own, base = verdict["resolved"], verdict["base_resolved"]
    return f"{arm} {own[0]}/{own[1]}, {baseline} {base[0]}/{base[1]}, {arm} {words}"


def turning_points(classes: Sequence[Mapping[str, Any]], baseline: str) -> list[str]:
    """One sentence per arm: which of it and the baseline is cheaper, and in which class, from small to large, that one
    stops winning. Of an arm whose costs are unknown throughout, nothing is said but that.
    """
    arms = list(dict.fromkeys(arm for entry in classes for arm in entry["arms"]))
    lines = []
    for arm in arms:
        ran = [(entry["class"], entry["arms"][arm]) for entry in classes if arm in entry["arms"]]
        known = [verdict["saved_pct"] for _, verdict in ran if verdict["saved_pct"] is not None]
        middle = medians.median(known)
        if middle is None:
            lines.append(f"what {arm} costs against {baseline} is not known")
        elif middle == 0:
            lines.append(f"{arm} and {baseline} cost the same")
        else:
            lines.append(_turn(arm, baseline, ran, cheap="arm" if middle > 0 else "baseline"))
    return lines


def _turn(arm: str, baseline: str, ran: Sequence[tuple[str, Mapping[str, Any]]], cheap: str) -> str:
    names = {"arm": arm, "baseline": baseline}
    start = f"{names[cheap]} is cheaper than {names['baseline' if cheap == 'arm' else 'arm']}"
    won = [name for name, verdict in ran if verdict["winner"] == cheap]
    lost = [(name, told(arm, baseline, verdict)) for name, verdict in ran if verdict["winner"] != cheap]
    if not lost:
        return f"{start} and wins in every class measured ({', '.join(won)})"
    if not won:
        return f"{start} but wins in no class ({lost[0][0]}: {lost[0][1]})"
    how = "stops winning at" if ran[0][0] in won else "does not win at"
    return f"{start}; it wins in {', '.join(won)} and {how} {lost[0][0]} ({lost[0][1]})"
