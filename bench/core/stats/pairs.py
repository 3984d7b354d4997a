"""Two arms' rows brought to one difference per task, the paired values that every test here works on.

A task stands for itself once, however many runs it has. Excluded and held-back runs reach no difference; a task where a
value is unknown makes the whole measure unknown, since leaving it out would choose the tasks by their outcome.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bench.core import medians
from bench.core.numbers import number

RESOLVED = "resolved"
POINTS, PERCENT, SCORE = "points", "percent", "score"
FEWER_IS_BETTER = frozenset({"review_false_positives", "review_false_negatives"})
"""Among the review measures; all of medians.MEASURES are better when smaller."""

Row = Mapping[str, Any]
ByTask = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Paired:
    """One measure on the tasks that both arms have evidence of, tasks in order of their names.

    `differences` are on the scale of the test, positive where a is better: shares for points, logarithms of b/a for percent.
    """

    measure: str
    unit: str
    tasks: tuple[str, ...]
    levels_a: tuple[Any, ...]
    levels_b: tuple[Any, ...]
    differences: tuple[Any, ...]
    why: str | None = None

    def shown(self, difference: float) -> float:
        """A difference on the scale of the test as an improvement in `unit`."""
        if self.unit == PERCENT:
            return -100 * math.expm1(-difference)
        return 100 * difference if self.unit == POINTS else difference


def unit_of(measure: str) -> str:
    """In what an improvement of a measure is told. Raises ValueError for a measure that is none."""
    if measure == RESOLVED:
        return POINTS
    if measure in medians.MEASURES:
        return PERCENT
    if measure in medians.REVIEW_MEASURES:
        return SCORE
    raise ValueError(f"no statistics of {measure!r}: use resolved, one of medians.MEASURES or medians.REVIEW_MEASURES")


def by_task(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Valid rows by task, tasks in order of their names."""
    found: dict[str, list[Row]] = {}
    for row in medians.valid(rows):
        found.setdefault(row["task"], []).append(row)
    return dict(sorted(found.items()))


def resolved(rows: Sequence[Row]) -> tuple[int, int]:
    """(resolved, all) of some rows."""
    return sum(row.get(RESOLVED) is True for row in rows), len(rows)


def pair(measure: str, of_a: ByTask, of_b: ByTask) -> Paired:
    """The measure on every task of both sides."""
    unit = unit_of(measure)
    shared = [task for task in of_a if task in of_b and not (unit == SCORE and _has_none(measure, of_a[task], of_b[task]))]
    level = _share if measure == RESOLVED else _middle(measure)
    levels_a, levels_b = ([level(side[task]) for task in shared] for side in (of_a, of_b))
    why = _unknown(measure, unit, shared, levels_a, levels_b)
    gaps = [] if why else [_gap(measure, unit, a, b) for a, b in zip(levels_a, levels_b, strict=True)]
    return Paired(measure, unit, tuple(shared), tuple(levels_a), tuple(levels_b), tuple(gaps), why)


def _has_none(measure: str, *sides: Sequence[Row]) -> bool:
    """Whether a task has no such score by its nature: a clean control has no F1."""
    rows = [row for side in sides for row in side]
    return all(row.get(measure) is None and row.get("review_clean_control") is True for row in rows)


def _share(rows: Sequence[Row]) -> Fraction:
    return Fraction(*resolved(rows))


def _middle(measure: str) -> Any:
    def level(rows: Sequence[Row]) -> float | None:
        return medians.median([number(row.get(measure)) for row in rows])

    return level


def _unknown(measure: str, unit: str, tasks: Sequence[str], *sides: Sequence[Any]) -> str | None:
    if not tasks:
        return "no task has valid evidence of both arms"
    for task, *levels in zip(tasks, *sides, strict=True):
        if None in levels:
            return f"{measure} of a run of {task} is not known"
        if unit == PERCENT and min(levels) <= 0:
            return f"{measure} is 0 on {task}, so that no ratio can be taken"
    return None


def _gap(measure: str, unit: str, a: Any, b: Any) -> Any:
    if unit == PERCENT:
        return math.log(b / a)
    return b - a if measure in FEWER_IS_BETTER else a - b
