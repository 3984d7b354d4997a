"""pass@k, pass^k and flips of one arm, with intervals that hold for few tasks and count a task's runs as the kin they are.

No normal approximation: every interval is Clopper-Pearson's at an effective number of independent items (Korn and Graubard).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from bench.core.stats.bootstrap import t_quantile
from bench.core.stats.levels import CONFIDENCE, rounded

MOST_K = 10
Counts = Mapping[str, tuple[int, int]]
"""task → (resolved runs, valid runs)."""


def any_of(passed: int, runs: int, k: int) -> float:
    """pass@k: the chance that at least one of k runs drawn from these passes (unbiased; k ≤ runs)."""
    return 1 - math.comb(runs - passed, k) / math.comb(runs, k)


def all_of(passed: int, runs: int, k: int) -> float:
    """pass^k: the chance that all of k runs drawn from these pass (unbiased; k ≤ runs)."""
    return math.comb(passed, k) / math.comb(runs, k)


def flips(passed: int, runs: int) -> float:
    """The share of pairs of runs that disagree (runs ≥ 2)."""
    return passed * (runs - passed) / math.comb(runs, 2)


def clopper_pearson(passed: float, items: float) -> tuple[float, float]:
    """Exact interval of a share at CONFIDENCE; both may be fractions of an item."""
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = betaincinv(passed, items - passed + 1, tail) if passed > 0 else 0.0
    high = betaincinv(passed + 1, items - passed, 1 - tail) if passed < items else 1.0
    return float(low), float(high)


def clustered(shares: Sequence[float], items: int) -> tuple[float, float] | None:
    """Interval of the mean of per-task shares (0 to 1), of which `items` independent trials stand behind all; None if empty.

    The effective number of items is the variance of one trial over the variance seen between tasks, shrunk as t quantiles
    ask for so few tasks, at most `items` and at least one per task (no spread within [0, 1] exceeds a coin's). Tasks that
    all agree count as one item each: they show nothing of how much runs of a task have in common.
    """
    if not shares:
        return None
    tasks, mean = len(shares), math.fsum(shares) / len(shares)
    mean = min(1.0, max(0.0, mean))
    effective = float(tasks)
    if tasks > 1 and items > tasks and (spread := statistics.variance(shares)) > 0:
        share = (1 + CONFIDENCE) / 2
        shrink = (t_quantile(share, items - 1) / t_quantile(share, tasks - 1)) ** 2
        effective = min(float(items), max(effective, mean * (1 - mean) * tasks / spread * shrink))
    return clopper_pearson(mean * effective, effective)


def of_arm(counts: Counts) -> dict[str, Any]:
    """{pass: [{k, any, any_interval, all, all_interval, tasks}], flip_rate, flip_interval, flip_tasks} of one arm.

    k goes to the largest number of runs, at most MOST_K; a task with fewer runs than k is left out there.
    """
    found = []
    for k in range(1, min(MOST_K, max((runs for _, runs in counts.values()), default=0)) + 1):
        mine = [(passed, runs) for passed, runs in counts.values() if runs >= k]
        items = sum(runs // k for _, runs in mine)
        entry: dict[str, Any] = {"k": k, "tasks": len(mine)}
        for name, rule in (("any", any_of), ("all", all_of)):
            entry |= _told(name, [rule(passed, runs, k) for passed, runs in mine], items)
        found.append(entry)
    pairs = [(passed, runs) for passed, runs in counts.values() if runs > 1]
    told = _told("flip", [flips(passed, runs) for passed, runs in pairs], sum(runs // 2 for _, runs in pairs))
    return {
        "pass": found,
        "flip_rate": told["flip"],
        "flip_interval": told["flip_interval"],
        "flip_tasks": len(pairs),
    }


def _told(name: str, shares: Sequence[float], items: int) -> dict[str, Any]:
    bounds = clustered(shares, items)
    mean = rounded(math.fsum(shares) / len(shares)) if shares else None
    return {name: mean, f"{name}_interval": [rounded(bound) for bound in bounds] if bounds else None}
