"""What a comparison can and cannot show, in sentences that a person who knows no statistics can act on.

A sentence never says more than its number: not shown is not the same as equal, and these tasks are not all tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.core.stats.levels import CONFIDENCE, LEAST_TASKS
from bench.core.stats.pairs import PERCENT, RESOLVED
from bench.core.stats.phrases import amount, chance, count, label, plan, signed, span

DIAGNOSTIC = (
    "Diagnostic only: some task has fewer than two valid runs of an arm, so nothing tells an arm's doing from chance; "
    "no number here may decide anything."
)
REPLAYED = "Runs were replayed from recordings: they show that the machinery works, not how a model's runs vary."
SURE = f"{100 * CONFIDENCE:.0f} %"

Mapped = Mapping[str, Any]


def told(found: Mapped) -> list[str]:
    """The sentences of a comparison (`compare` without its words): doubts about the data first, then what they show."""
    if not found["tasks"]:
        return ["Nothing can be compared: no task has valid evidence of both arms."]
    said = [DIAGNOSTIC] if found["diagnostic"] else []
    if found["a"]["replayed"] or found["b"]["replayed"]:
        said.append(REPLAYED)
    said += [f"Take care: {sentence}." for sentence in found["lopsided"]]
    for name, measure in found["measures"].items():
        said += [f"{_result(name, measure, found)}{_verdict(name, measure, found)}.", *_limits(name, measure)]
    return said + _agreement(found)


def short(found: Mapped) -> str:
    """One sentence on whether the difference in resolved runs is shown."""
    measure = found["measures"][RESOLVED]
    better = measure["improvement"]
    if better is None:
        return f"Nothing can be compared: {measure['why']}."
    if found["diagnostic"]:
        return "Diagnostic only: with fewer than two runs per task and arm no difference is shown."
    what = "gain" if better > 0 else "loss" if better < 0 else "equality"
    if measure["improves"] or measure["worsens"]:
        return f"This {what} is more than chance explains ({chance(measure['p'])} over {count(measure['tasks'], 'task')})."
    if measure["interval"] is None:
        return f"Whether this {what} holds on other tasks, {count(measure['tasks'], 'task')} cannot show."
    return f"This {what} may be chance: {SURE} interval {span(measure['interval'], measure['unit'])}."


def _result(name: str, measure: Mapped, found: Mapped) -> str:
    a, b = found["a"]["arm"], found["b"]["arm"]
    better, unit = measure["improvement"], measure["unit"]
    if better is None:
        return f"{label(name)} cannot be compared"
    where = f"over {count(measure['tasks'], 'task')}"
    if name == RESOLVED:
        fewest, most = found["runs"]
        runs = count(fewest, "run") if fewest == most else f"{fewest} to {most} runs"
        return (
            f"{a} resolves {100 * measure['a']:.1f} % and {b} {100 * measure['b']:.1f} % {where} with {runs} of each: "
            f"{signed(better, 1)} points"
        )
    if unit == PERCENT:
        way = f"{amount(better, unit)} {'less' if better > 0 else 'more'} than" if round(better, 1) else "the same as"
        return f"{label(name)}: {a} takes {way} {b} {where} (geometric mean)"
    return f"{label(name)}: {a} {measure['a']:.3f}, {b} {measure['b']:.3f} {where}"


def _verdict(name: str, measure: Mapped, found: Mapped) -> str:
    if measure["improvement"] is None:
        return f": {measure['why']}"
    if measure["tasks"] < LEAST_TASKS:
        return f". {_few(measure)}" if name == RESOLVED else ""
    if measure["interval"] is None:
        return ". Nothing shows how much that varies, so that no interval can be given"
    saving = " of the saving" if measure["unit"] == PERCENT else ""
    numbers = f"{SURE} interval{saving} {span(measure['interval'], measure['unit'])}, {chance(measure['p'])}"
    if found["diagnostic"]:
        return f" ({numbers})"
    if measure["improves"] or measure["worsens"]:
        return f". That is more than chance explains ({numbers})"
    return f". That may be chance, but neither is it shown that the arms are equal ({numbers})"


def _few(measure: Mapped) -> str:
    words = (
        f"{count(measure['tasks'], 'task')} can show nothing about other tasks: even if all agreed, the exact test could "
        f"not go below {chance(measure['p_least'])}. On these very tasks "
    )
    if measure["p_runs"] <= 1 - CONFIDENCE:
        return f"{words}the difference is more than the noise of runs explains ({chance(measure['p_runs'])})"
    return f"{words}the noise of runs can explain the difference ({chance(measure['p_runs'])})"


def _limits(name: str, measure: Mapped) -> list[str]:
    if name != RESOLVED or measure["improvement"] is None:
        return []
    said = []
    if measure["tasks"] >= LEAST_TASKS and measure["smallest"] is None:
        said.append("No gain, however large, would have been seen by this design in 8 of 10 cases.")
    elif measure["smallest"] is not None:
        said.append(
            f"A design of this size sees a true difference of {amount(measure['smallest'], measure['unit'])} "
            "in 8 of 10 cases, and smaller ones less often."
        )
    if measure["more"]:
        goal = f"To see a difference of {amount(measure['more']['target'], measure['unit'])} in 8 of 10 cases"
        said.append(f"{goal}, it would take {plan(measure['more'])}.")
    return said


def _agreement(found: Mapped) -> list[str]:
    parts = [
        f"{100 * side['flip_rate']:.0f} % of those of {side['arm']}"
        for side in (found["b"], found["a"])
        if side["flip_rate"] is not None
    ]
    return [f"Of pairs of identical runs, {' and '.join(parts)} disagree on whether the task is resolved."] if parts else []
