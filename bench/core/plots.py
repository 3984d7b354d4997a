"""Coordinates of the report's two plots: outcome per arm as stacked bars, cost per task and arm as dots. No drawing here.

Lengths are in user units of an SVG of fixed width; a value that is unknown has no mark, and is never drawn at 0.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import error_kinds
from bench.core.records import NOT_RUN
from bench.core.suite import CALIBRATION

WIDTH = 720
LABEL = 190
"""Room at the left for names."""
RIGHT = 64
BAR = 26
DOT = 18
MOST_TASKS = 40
"""Tasks in the plot of costs; the tables have all."""
OUTCOMES = ("resolved", "unresolved", "excluded", "not_run")


def outcome_of(row: Mapping[str, Any]) -> str:
    """One of OUTCOMES for a compact row."""
    if row["state"] == NOT_RUN:
        return "not_run"
    if error_kinds.excluded(row):
        return "excluded"
    return "resolved" if row.get("resolved") else "unresolved"


def outcome(arms: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """{width, height, label, rows: [{name, role, y, text, parts: [{kind, x, width, count}]}]}: shares of the planned runs.

    None without competing arms.
    """
    span = WIDTH - LABEL - RIGHT
    rows: list[dict[str, Any]] = []
    for arm in (arm for arm in arms if arm["role"] != CALIBRATION):
        counts = {"resolved": arm["resolved"], "unresolved": max(0, arm["valid"] - arm["resolved"])}
        counts |= {"excluded": arm["excluded"], "not_run": arm["not_run"]}
        total = sum(counts.values())
        x, parts = float(LABEL), []
        for kind in OUTCOMES:
            width = span * counts[kind] / total if total else 0.0
            if width:
                parts.append({"kind": kind, "x": round(x, 2), "width": round(width, 2), "count": counts[kind]})
            x += width
        text = f"{arm['resolved']}/{arm['planned']}"
        rows.append({"name": arm["name"], "role": arm["role"], "y": len(rows) * BAR, "text": text, "parts": parts})
    return {"width": WIDTH, "height": len(rows) * BAR, "label": LABEL, "rows": rows} if rows else None


def differences(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """{width, height, label, zero, ticks: [{x, text}], rows: [{name, against, y, at, low, high, text}]} or None.

    Points of resolved runs gained, one row per pair of arms; low and high are None where no interval can be given.
    """
    measured = [(pair, pair["found"]["measures"]["resolved"]) for pair in pairs]
    known = [(pair, measure) for pair, measure in measured if measure["improvement"] is not None]
    if not known:
        return None
    reach = max(abs(value) for _, measure in known for value in (measure["improvement"], *(measure["interval"] or ())))
    end = min(100.0, math.ceil(max(reach, 1) / 10) * 10)
    scale = (WIDTH - LABEL - RIGHT) / (2 * end)

    def at(points: float) -> float:
        return float(round(LABEL + (points + end) * scale, 2))

    rows = [
        {"name": pair["a"], "against": pair["b"], "y": place * BAR, "at": at(measure["improvement"])}
        | dict(zip(("low", "high"), map(at, measure["interval"]) if measure["interval"] else (None, None), strict=True))
        | {"text": pair["rows"][0]["gain"], "verdict": pair["rows"][0]["verdict"]}
        for place, (pair, measure) in enumerate(known)
    ]
    ticks = [
        {"x": at(part * end / 2), "text": f"{part * end / 2:+g}".replace("-", "−") if part else "0"}
        for part in (-2, -1, 0, 1, 2)
    ]
    return {"width": WIDTH, "height": len(rows) * BAR, "label": LABEL, "zero": at(0), "ticks": ticks, "rows": rows}


def costs(aggregate: Mapping[str, Any], tasks: Sequence[str]) -> dict[str, Any] | None:
    """{width, height, ticks: [{x, text}], blocks: [{task, y, rows: [{arm, role, y, dots, median}]}], left_out} or None.

    One dot per run whose cost is known (resolved runs told apart), an upright mark at the median. None without costs.
    """
    shown = list(tasks)[:MOST_TASKS]
    dots: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in aggregate["rows"]:
        if row.get("cost_usd") is not None and row["role"] != CALIBRATION:
            dots[row["task"], row["arm"]].append(row)
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for group in aggregate["groups"]:
        if group["role"] != CALIBRATION:
            groups[group["task"]].append(group)
    top = max((row["cost_usd"] for task in shown for group in groups[task] for row in dots[task, group["arm"]]), default=0)
    if not top:
        return None
    step = _step(top)
    end = math.ceil(top / step - 1e-9) * step
    scale = (WIDTH - LABEL - RIGHT) / end
    blocks: list[dict[str, Any]] = []
    y = 0
    for task in shown:
        rows = [
            _dots(group, dots[task, group["arm"]], y + DOT * (place + 1), scale) for place, group in enumerate(groups[task])
        ]
        if any(row["dots"] for row in rows):
            blocks.append({"task": task, "y": y, "rows": rows})
            y += DOT * (len(rows) + 1) + 8
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks = [
        {"x": round(LABEL + i * step * scale, 2), "text": f"${i * step:.{places}f}"} for i in range(round(end / step) + 1)
    ]
    left_out = len(tasks) - len(shown)
    return {"width": WIDTH, "height": y + 8, "label": LABEL, "ticks": ticks, "blocks": blocks, "left_out": left_out}


def _dots(group: Mapping[str, Any], mine: Sequence[Mapping[str, Any]], y: int, scale: float) -> dict[str, Any]:
    middle = group["medians"].get("cost_usd")
    marks = [
        {"x": round(LABEL + row["cost_usd"] * scale, 2), "cost": row["cost_usd"]}
        | {name: row[name] for name in ("resolved", "run")}
        for row in mine
    ]
    at = None if middle is None else round(LABEL + middle * scale, 2)
    return {"arm": group["arm"], "role": group["role"], "y": y, "dots": marks, "median": at}


def _step(top: float) -> float:
    """A round step that gives 3 to 7 ticks."""
    size = 10 ** math.floor(math.log10(top))
    return float(next(size * part for part in (0.2, 0.5, 1, 2) if top / (size * part) <= 6.5))
