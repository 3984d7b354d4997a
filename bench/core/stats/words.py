"""What a comparison can and cannot show, in sentences that a person who knows no statistics can act on.

A sentence never says more than its number: not shown is not the same as equal, and these tasks are not all tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.core.stats.levels import CONFIDENCE, LEAST_TASKS
from bench.core.stats.pairs import PERCENT, POINTS, RESOLVED

DIAGNOSTIC = (
    "Diagnostic only: some task has fewer than two valid runs of an arm, so nothing tells an arm's doing from chance; "
    "no number here may decide anything."
)
REPLAYED = "Runs were replayed from recordings: they show that the machinery works, not how a model's runs vary."
NAMES = {
    "cost_usd": "cost",
    "duration_s": "wall time",
    "num_turns": "turns",
    "output_tokens": "output tokens",
    "review_weighted_f1": "weighted F1",
}

Mapped = Mapping[str, Any]


def told(found: Mapped) -> list[str]:
    """The sentences of a comparison (`compare` without its words): doubts about the data first, then what they show."""
    a, b = found["a"]["arm"], found["b"]["arm"]
    if not found["tasks"]:
        return ["Nothing can be compared: no task has valid evidence of both arms."]
    said = [DIAGNOSTIC] if found["diagnostic"] else []
    if found["a"]["replayed"] or found["b"]["replayed"]:
        said.append(REPLAYED)
    said += [f"Take care: {sentence}." for sentence in found["lopsided"]]
    for name, measure in found["measures"].items():
        said += [f"{_result(name, measure, a, b, found)}; {_verdict(measure, found)}.", *_limits(name, measure)]
    return said + _agreement(found)


def amount(value: float, unit: str) -> str:
    """A size in the unit of a measure, without its sign."""
    if unit == POINTS:
        return f"{abs(value):.1f} points"
    return f"{abs(value):.1f} %" if unit == PERCENT else f"{abs(value):.3f}"


def span(interval: tuple[float, float], unit: str) -> str:
    """`−4.0 to +31.2 points`."""
    digits, tail = (3, "") if unit not in (POINTS, PERCENT) else (1, " points" if unit == POINTS else " %")
    low, high = (_signed(bound, digits) for bound in interval)
    return f"{low} to {high}{tail}"


def chance(p: float) -> str:
    """`p = 0.031`, `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def _result(name: str, measure: Mapped, a: str, b: str, found: Mapped) -> str:
    label = NAMES.get(name, name.removeprefix("review_").replace("_", " "))
    if measure["improvement"] is None:
        return f"{label.capitalize()} cannot be compared"
    gain, unit = measure["improvement"], measure["unit"]
    where = f"over {_count(measure['tasks'], 'task')}"
    if name == RESOLVED:
        fewest, most = found["runs"]
        runs = _count(fewest, "run") if fewest == most else f"{fewest} to {most} runs"
        head = f"{a} resolves {100 * measure['a']:.1f} % and {b} {100 * measure['b']:.1f} % {where} with {runs} of each"
        head += f", a difference of {_signed(gain, 1)} points"
    elif unit == PERCENT:
        way = "the same" if not gain else f"{amount(gain, unit)} {'less' if gain > 0 else 'more'}"
        head = (
            f"{label.capitalize()}: {a} takes {way}{'' if gain else ' as'}{' than' if gain else ''} {b} in the typical task"
        )
    else:
        head = f"{label.capitalize()}: {a} {measure['a']:.3f}, {b} {measure['b']:.3f} {where}"
    return head


def _verdict(measure: Mapped, found: Mapped) -> str:
    if measure["improvement"] is None:
        return str(measure["why"])
    if measure["tasks"] < LEAST_TASKS:
        return f"{_count(measure['tasks'], 'task')} can show nothing about other tasks" + _these(measure)
    if measure["interval"] is None:
        return "nothing shows how much that varies, so that no interval can be given"
    saving = " of the saving" if measure["unit"] == PERCENT else ""
    numbers = (
        f"{100 * CONFIDENCE:.0f} % interval{saving} {span(measure['interval'], measure['unit'])}, {chance(measure['p'])}"
    )
    if found["diagnostic"]:
        return numbers
    if measure["improves"] or measure["worsens"]:
        return f"that is more than chance explains ({numbers})"
    return f"that may be chance; but that the arms are equal is not shown either ({numbers})"


def _these(measure: Mapped) -> str:
    least = measure["p_least"]
    words = f" (even if all agreed, the exact test could not go below {chance(least)})"
    if measure["p_runs"] is None:
        return words
    if measure["p_runs"] <= 1 - CONFIDENCE:
        return f"{words}; on these very tasks it is more than the noise of runs explains ({chance(measure['p_runs'])})"
    return f"{words}; on these very tasks the noise of runs explains it ({chance(measure['p_runs'])})"


def _limits(name: str, measure: Mapped) -> list[str]:
    said = []
    if name == RESOLVED and measure["tasks"] >= LEAST_TASKS:
        if measure["smallest"] is None:
            said.append("No gain, however large, would have been seen by this design in 8 of 10 cases.")
        else:
            said.append(
                f"A design of this size sees a true difference of {amount(measure['smallest'], measure['unit'])} "
                "in 8 of 10 cases, and smaller ones less often."
            )
    if name == RESOLVED and measure["more"]:
        said.append(_more(measure["more"], measure))
    return said


def _more(plan: Mapped, measure: Mapped) -> str:
    goal = f"To see a difference of {amount(plan['target'], measure['unit'])} in 8 of 10 cases"
    if plan["more_runs"] is None:
        return f"{goal}, no affordable number of runs would do."
    price = "at an unknown cost" if plan["usd"] is None else f"about ${plan['usd']:,.2f}"
    if plan["runs_per_task"] is not None:
        way = f"{plan['runs_per_task']} runs per task and arm"
    else:
        way = f"{plan['tasks_needed']} tasks"
    return f"{goal}, it would take about {way}: {plan['more_runs']:,} more runs of both arms, {price}."


def _agreement(found: Mapped) -> list[str]:
    parts = [
        f"{100 * side['flip_rate']:.0f} % of those of {side['arm']}"
        for side in (found["b"], found["a"])
        if side["flip_rate"] is not None
    ]
    return [f"Of pairs of identical runs, {' and '.join(parts)} disagree on whether the task is resolved."] if parts else []


def _signed(value: float, digits: int) -> str:
    shown = f"{abs(value):.{digits}f}"
    return ("" if not float(shown) else "+" if value > 0 else "−") + shown


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
