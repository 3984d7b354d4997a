"""How sizes, intervals and chances are written, in sentences and in the cells of tables. Numbers in, short texts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core.stats.pairs import PERCENT, POINTS, RESOLVED

NAMES = {
    "resolved": "Resolved runs",
    "cost_usd": "Cost",
    "duration_s": "Wall time",
    "num_turns": "Turns",
    "review_weighted_f1": "Weighted F1",
}
NONE = "–"


def label(name: str) -> str:
    """A measure's name as a sentence or a row begins."""
    words = name.removeprefix("review_").replace("_", " ")
    return NAMES.get(name, words[:1].upper() + words[1:])


def amount(value: float, unit: str) -> str:
    """A size in the unit of a measure, without its sign."""
    if unit == POINTS:
        return f"{abs(value):.1f} points"
    return f"{abs(value):.1f} %" if unit == PERCENT else f"{abs(value):.3f}"


def gain(value: float, unit: str) -> str:
    """An improvement with its sign and unit; of a percentage it is said whether it is saved."""
    if unit == PERCENT:
        return f"{amount(value, unit)} {'less' if value > 0 else 'more'}" if round(value, 1) else "the same"
    return signed(value, 1) + " points" if unit == POINTS else signed(value, 3)


def span(interval: Sequence[float], unit: str) -> str:
    """`−4.0 to +31.2 points`."""
    low, high = (signed(bound, 1 if unit in (POINTS, PERCENT) else 3) for bound in interval)
    return f"{low} to {high}" + {POINTS: " points", PERCENT: " %"}.get(unit, "")


def chance(p: float) -> str:
    """`p = 0.031`, `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.2 else f"p = {p:.2f}"


def level(value: float | None, name: str) -> str:
    """An arm's level of a measure in its own unit."""
    if value is None:
        return "n/a"
    if name == RESOLVED:
        return f"{100 * value:.1f} %"
    if name == "cost_usd":
        return f"${value:.4f}" if abs(value) < 1 else f"${value:,.2f}"
    return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.0f}"


def plan(more: Mapping[str, Any]) -> str:
    """What it takes to see the target: `9 runs per task and arm: 144 more runs of both arms, about $12.00`."""
    if more["more_runs"] is None:
        return "no affordable number of runs"
    price = "at an unknown cost" if more["usd"] is None else f"about ${more['usd']:,.2f}"
    if more["runs_per_task"] is not None:
        way = count(more["runs_per_task"], "run") + " per task and arm"
    else:
        way = count(more["tasks_needed"], "task")
    return f"{way}: {count(more['more_runs'], 'more run')} of both arms, {price}"


def signed(value: float, digits: int) -> str:
    """A number with its sign; what rounds to zero has none."""
    shown = f"{abs(value):.{digits}f}"
    return ("" if not float(shown) else "+" if value > 0 else "−") + shown


def count(number: int, noun: str) -> str:
    """`1 task`, `1,200 tasks`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
