"""The comparison of two arms: pairs, intervals, tests and plans put together. Numbers here, sentences in `words`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import bench.core.stats.bootstrap as bootstrap
import bench.core.stats.exact as exact
import bench.core.stats.pairs as pairs
import bench.core.stats.planning as planning
import bench.core.stats.words as words
from bench.core.stats.levels import CONFIDENCE, LEAST_TASKS, rounded
from bench.core.stats.pairs import PERCENT, POINTS, RESOLVED, Paired
from bench.core.stats.sides import lopsided, side

TARGETS = {POINTS: 0.10, PERCENT: -math.log(0.9), "score": 0.05}
"""What a plan aims at where no difference at all was seen: 10 points, 10 percent, 0.05 of a score."""
REVIEW = "review_weighted_f1"

Row = Mapping[str, Any]
ByTask = Mapping[str, Sequence[Row]]


def of(rows_a: Sequence[Row], rows_b: Sequence[Row], measures: Sequence[str] | None = None) -> dict[str, Any]:
    """See `compare` in the package: its docstring says what is given back."""
    a, b = side(rows_a), side(rows_b)
    of_a, of_b = pairs.by_task(rows_a), pairs.by_task(rows_b)
    shared = [task for task in of_a if task in of_b]
    runs = [len(each[task]) for task in shared for each in (of_a, of_b)]
    wanted = _measures(measures, rows_a, rows_b)
    found: dict[str, Any] = {
        "a": a,
        "b": b,
        "tasks": len(shared),
        "runs": [min(runs), max(runs)] if runs else [0, 0],
        "diagnostic": min(runs, default=0) < 2,
        "lopsided": lopsided(a, b),
    }
    found["measures"] = {name: _measured(name, of_a, of_b, found) for name in wanted}
    found["words"] = words.told(found)
    return found


def _measures(given: Sequence[str] | None, *sides: Sequence[Row]) -> list[str]:
    if given is not None:
        return list(dict.fromkeys([RESOLVED, *given]))
    scored = any(row.get(REVIEW) is not None for rows in sides for row in rows)
    return [RESOLVED, "cost_usd", *([REVIEW] if scored else [])]


def _measured(name: str, of_a: ByTask, of_b: ByTask, whole: Mapping[str, Any]) -> dict[str, Any]:
    paired = pairs.pair(name, of_a, of_b)
    tables = [(*pairs.resolved(of_a[task]), *pairs.resolved(of_b[task])) for task in paired.tasks]
    p, test = exact.sign_flip(paired.differences)
    error = _noise(tables)[1] if name == RESOLVED and tables else 0.0
    middle = _mean(paired.differences)
    bounds = bootstrap.interval([float(gap) for gap in paired.differences], error) if paired.differences else None
    low, high = bounds if bounds else (0.0, 0.0)
    sure = p is not None and p <= 1 - CONFIDENCE and not whole["diagnostic"]
    return {
        "unit": paired.unit,
        "a": _level(paired.levels_a),
        "b": _level(paired.levels_b),
        "improvement": None if middle is None else rounded(paired.shown(middle)),
        "interval": [rounded(paired.shown(_within(bound, paired.unit))) for bound in bounds] if bounds else None,
        "excludes_zero": bool(low > 0 or high < 0),
        "improves": bool(low > 0 and sure),
        "worsens": bool(high < 0 and sure),
        "p": None if p is None else rounded(p),
        "p_least": exact.least(len(paired.differences)) if paired.differences else None,
        "p_runs": rounded(exact.stratified(tables)) if name == RESOLVED and tables else None,
        "test": test,
        "tasks": len(paired.tasks),
        "per_task": _per_task(paired),
        "why": paired.why,
    } | _plan(paired, tables, middle, whole, settled=bool((low > 0 or high < 0) and sure))


def _plan(
    paired: Paired, tables: Sequence[exact.Table], middle: float | None, whole: Mapping[str, Any], *, settled: bool
) -> dict[str, Any]:
    """smallest, smallest_how and more of a measure."""
    if middle is None:
        return {"smallest": None, "smallest_how": "nothing was measured", "more": None}
    design = planning.Design(len(paired.tasks), *(_typical(table[place] for table in tables) for place in (1, 3)))
    gaps = [float(gap) for gap in paired.differences]
    spread = statistics.stdev(gaps) if len(gaps) > 1 else 0.0
    noise = None
    if paired.measure == RESOLVED:
        noise = _noise(tables)[0]
        rate = sum(table[0] + table[2] for table in tables) / sum(table[1] + table[3] for table in tables)
        seen = planning.smallest(design, round(20 * rate) / 20)
        how = "simulated: the same rate and gain on every task, rates centred on the pooled one"
    else:
        seen = planning.smallest_mean(spread, design.tasks) if spread else None
        how = "t test at the spread seen between tasks"
    if design.tasks < LEAST_TASKS:
        how = f"fewer than {LEAST_TASKS} tasks can show no difference, however large"
    costs = [whole[name]["median_cost_usd"] for name in ("a", "b")]
    plan = None
    if not settled and (noise or spread):
        plan = planning.more(abs(middle) or TARGETS[paired.unit], design, noise, spread, costs)
        plan["target"] = rounded(paired.shown(plan["target"]))
        plan["usd"] = None if plan["usd"] is None else round(plan["usd"], 2)
    return {"smallest": None if seen is None else rounded(paired.shown(seen)), "smallest_how": how, "more": plan}


def _noise(tables: Sequence[exact.Table]) -> tuple[float, float]:
    """(variance of one run of a plus one of b, standard error that the runs' own noise gives the mean over the tasks).

    From rates with half a success and half a failure added (Jeffreys): runs that all agree are not taken for certain.
    """
    single, mean = 0.0, 0.0
    for passed_a, runs_a, passed_b, runs_b in tables:
        for passed, runs in ((passed_a, runs_a), (passed_b, runs_b)):
            rate = (passed + 0.5) / (runs + 1)
            single += rate * (1 - rate)
            mean += rate * (1 - rate) / runs
    return single / len(tables), math.sqrt(mean) / len(tables)


def _mean(values: Sequence[Any]) -> float | None:
    if not values:
        return None
    # Sorted, so that the order in which rows came cannot reach even the last digit.
    return float(sum(values)) / len(values) if not isinstance(values[0], float) else math.fsum(sorted(values)) / len(values)


def _level(values: Sequence[Any]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return rounded(math.fsum(known) / len(known)) if known and len(known) == len(values) else None


def _within(bound: float, unit: str) -> float:
    return bound if unit == PERCENT else min(1.0, max(-1.0, bound)) if unit == POINTS else bound


def _per_task(paired: Paired) -> list[dict[str, Any]]:
    gaps: Sequence[Any] = paired.differences or [None] * len(paired.tasks)
    return [
        {"task": task, "a": _told(a), "b": _told(b), "improvement": None if gap is None else rounded(paired.shown(gap))}
        for task, a, b, gap in zip(paired.tasks, paired.levels_a, paired.levels_b, gaps, strict=True)
    ]


def _told(value: Any) -> float | None:
    return None if value is None else rounded(value)


def _typical(counts: Any) -> int:
    return int(statistics.median_low(list(counts)))
