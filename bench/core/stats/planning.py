"""What a design of tasks and runs can see: simulated power, the smallest difference seen, and how many runs more are needed.

The model is plain and stated: every task has the same rate in an arm, runs are independent, and the gain is the same on
every task. Where gains differ between tasks, a design sees less than is said here.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bench.core.stats.bootstrap import t_quantile
from bench.core.stats.draws import Draws
from bench.core.stats.levels import CONFIDENCE, LEAST_TASKS, POWER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SUITES = 1000
"""Suites simulated per question: the power told is good to about ±3 points."""
_ROOM = 6_000_000
_EXACT = 200
"""Tasks times steps of a task's difference up to which the simulated rule is the exact test; beyond, a t test."""
_RESAMPLES = 4000
MOST_RUNS = 100
"""More runs per task and arm than this are no plan; more tasks are."""
MOST_TASKS = 100_000


@dataclass(frozen=True, slots=True)
class Design:
    """Tasks, and runs of each arm on each of them."""

    tasks: int
    runs_a: int
    runs_b: int


def half_width(cells: int, rate: float = 0.5) -> float:
    """Half the width of the normal 95 % interval of a difference of two rates, from `cells` independent cells an arm.

    No report tells it, since cells of one task are not independent: it holds this module to published half-widths.
    """
    return _z((1 + CONFIDENCE) / 2) * math.sqrt(2 * rate * (1 - rate) / cells)


def power(design: Design, base: float, gain: float, rule: str = "tasks", suites: int = SUITES) -> float:
    """The share of simulated suites in which arm a (rate base + gain) is shown to be better than arm b (rate base).

    rule `tasks`: the exact sign-flip test that `compare` uses (a t test for large designs). rule `bootstrap`: the plain
    percentile interval over tasks lies above zero. With the second, 30 tasks × 3 runs at a base of 0.3 give 0.28, 0.78 and
    0.98 at gains of 10, 20 and 30 points; the registered simulation gave 0.30, 0.78 and 0.98 and does not say its base.
    No report tells a power: it holds `smallest`, which is made of the same draws, to that simulation.
    """
    found = _Suites(design, suites).gaps(min(1.0, base + gain), base)
    return float((_bootstrapped(found) if rule == "bootstrap" else _shown(found, _unit(design))).mean())


@lru_cache(maxsize=256)
def smallest(design: Design, rate: float) -> float | None:
    """The smallest gain (a share) seen with POWER, rates centred on `rate` as far as 0 and 1 allow; None if none is.

    Simulated with the same draws at every gain, found to half a point by halving.
    """
    if design.tasks < LEAST_TASKS:
        return None
    suites = _Suites(design, max(200, min(SUITES, _ROOM // (design.tasks * (design.runs_a + design.runs_b)))))

    def seen(gain: float) -> bool:
        upper = min(1.0, max(gain, rate + gain / 2))
        return float(_shown(suites.gaps(upper, upper - gain), _unit(design)).mean()) >= POWER

    if not seen(1.0):
        return None
    low, high = 0.0, 1.0
    while high - low > 0.005:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def smallest_mean(spread: float, tasks: int) -> float | None:
    """The smallest mean difference seen with POWER by a t test of `tasks` differences of standard deviation `spread`."""
    return _reach(tasks) * spread / math.sqrt(tasks) if tasks >= LEAST_TASKS else None


def tasks_needed(spread: float, target: float) -> int | None:
    """The fewest tasks whose t test sees a mean difference `target` with POWER; None beyond MOST_TASKS."""

    def sees(tasks: int) -> bool:
        return _reach(tasks) * spread / math.sqrt(tasks) <= abs(target)

    if not sees(MOST_TASKS):
        return None
    return bisect.bisect_left(range(MOST_TASKS), True, lo=LEAST_TASKS, key=sees)


def runs_needed(noise: float, between: float, tasks: int, target: float) -> int | None:
    """How many runs per task of each arm see a mean difference `target` on `tasks` tasks with POWER.

    `noise` is the variance of one run of a plus that of one of b, `between` that of the true differences between tasks.
    None where no number up to MOST_RUNS does: then only more tasks help.
    """
    if tasks < LEAST_TASKS:
        return None
    room = tasks * (target / _reach(tasks)) ** 2 - between
    runs = math.ceil(noise / room) if room > 0 else MOST_RUNS + 1
    return max(1, runs) if runs <= MOST_RUNS else None


def more(target: float, design: Design, noise: float | None, spread: float, costs: Sequence[float | None]) -> dict[str, Any]:
    """{target, runs_per_task, tasks_needed, more_runs, usd}: what it takes to see `target` with POWER, both arms together.

    `spread` is the standard deviation of the tasks' differences, `noise` as in `runs_needed` (None: runs cannot be told
    from tasks, so that only tasks are planned). More runs of the same tasks are told where they suffice, else more tasks
    with as many runs as now. `costs` are the median dollars of one run of a and of b; unknown makes `usd` null.
    """
    runs = None
    if noise is not None:
        between = max(0.0, spread**2 - noise / 2 * (1 / design.runs_a + 1 / design.runs_b))
        runs = runs_needed(noise, between, design.tasks, target)
        spread = math.sqrt(between + noise / 2 * (1 / design.runs_a + 1 / design.runs_b))
    if runs is not None:
        extra = [design.tasks * max(0, runs - had) for had in (design.runs_a, design.runs_b)]
        tasks = None
    else:
        tasks = tasks_needed(spread, target)
        extra = [max(0, (tasks or 0) - design.tasks) * had for had in (design.runs_a, design.runs_b)]
    known = [cost for cost in costs if cost is not None]
    priced = len(known) == len(costs) and (runs or tasks)
    return {
        "target": target,
        "runs_per_task": runs,
        "tasks_needed": tasks,
        "more_runs": sum(extra) if runs or tasks else None,
        "usd": sum(count * cost for count, cost in zip(extra, known, strict=True)) if priced else None,
    }


class _Suites:
    """Simulated suites whose draws are made once, so that a larger gain never shows less by bad luck."""

    def __init__(self, design: Design, suites: int) -> None:
        draws = Draws()
        self._a = draws.units(suites, design.tasks, design.runs_a)
        self._b = draws.units(suites, design.tasks, design.runs_b)

    def gaps(self, rate_a: float, rate_b: float) -> NDArray[np.float64]:
        """Difference of shares per suite and task."""
        found: NDArray[np.float64] = (self._a < rate_a).mean(axis=2) - (self._b < rate_b).mean(axis=2)
        return found


def _shown(gaps: NDArray[np.float64], unit: int) -> NDArray[np.bool_]:
    """Whether each suite's sign-flip test shows a to be better; `unit` is the number by which gaps are whole."""
    import numpy as np

    tasks = gaps.shape[1]
    if tasks * unit > _EXACT:
        error = gaps.std(axis=1, ddof=1) / math.sqrt(tasks)
        reach = t_quantile((1 + CONFIDENCE) / 2, tasks - 1)
        return np.asarray(gaps.mean(axis=1) > reach * error + 1e-12)
    steps = np.rint(gaps * unit).astype(np.int64)
    size = 2 * tasks * unit + 1
    # The distribution of a sum of independent ±d is the inverse transform of the product of the cosines of each d.
    angles, waves = 2 * np.pi * np.arange(size) / size, np.ones((len(steps), size))
    for step in range(1, unit + 1):
        powers = np.cos(step * angles)[None, :] ** np.arange(tasks + 1)[:, None]
        waves *= powers[(np.abs(steps) == step).sum(axis=1)]
    spread = np.fft.ifft(waves, axis=1).real
    totals = steps.sum(axis=1)
    tails = np.cumsum(np.roll(spread, tasks * unit, axis=1)[:, ::-1], axis=1)[np.arange(len(steps)), tasks * unit - totals]
    return np.asarray((totals > 0) & (2 * tails <= 1 - CONFIDENCE + 1e-9))


def _bootstrapped(gaps: NDArray[np.float64]) -> NDArray[np.bool_]:
    import numpy as np

    tasks = gaps.shape[1]
    drawn = Draws().places(tasks, _RESAMPLES, tasks)
    weights = np.stack([np.bincount(row, minlength=tasks) for row in drawn]) / tasks
    return np.asarray(np.quantile(gaps @ weights.T, (1 - CONFIDENCE) / 2, axis=1) > 1e-12)


def _unit(design: Design) -> int:
    return math.lcm(design.runs_a, design.runs_b)


def _reach(tasks: int) -> float:
    return t_quantile((1 + CONFIDENCE) / 2, tasks - 1) + t_quantile(POWER, tasks - 1)


def _z(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))
