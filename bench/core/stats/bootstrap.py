"""The cluster bootstrap over tasks: how far the mean difference moves when other tasks like these had been drawn.

Whole tasks are drawn with all their runs, never single runs. The same values give the same interval in any order, and
negated values the negated interval. Few values make a plain percentile interval too narrow; this one is widened for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.core.stats.draws import Draws
from bench.core.stats.levels import CONFIDENCE, LEAST_TASKS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 5000
_ROOM = 2_000_000
"""Draws held in memory at once."""


def means(values: Sequence[float], resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """Sorted means of `resamples` (even) draws of len(values) values with replacement.

    Each draw stands beside its mirror image, the value of rank i beside that of rank n − i: so swapped arms give exactly the
    negated means.
    """
    import numpy as np

    given = np.array(sorted(values))
    draws, size = Draws(), len(given)
    half, step = resamples // 2, max(1, _ROOM // size)
    parts = []
    for start in range(0, half, step):
        places = draws.places(size, min(step, half - start), size)
        parts += [given[places].mean(axis=1), given[size - 1 - places].mean(axis=1)]
    return np.sort(np.concatenate(parts))


def percentile(values: Sequence[float], resamples: int = RESAMPLES) -> tuple[float, float]:
    """The plain percentile interval, neither widened nor floored: the yardstick of how far `interval` widens it."""
    import numpy as np

    low, high = np.quantile(means(values, resamples), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def interval(values: Sequence[float], least_error: float = 0.0) -> tuple[float, float] | None:
    """Interval of the mean at CONFIDENCE, or None below LEAST_TASKS values or where nothing shows how much they vary.

    Percentiles are moved out to where a t quantile with the (n − 1)/n correction would be (Hesterberg 2015, "expanded
    percentile"). `least_error` is a standard error known from elsewhere (the runs' own noise): where chance made the tasks
    agree more than their runs do, the interval is at least as wide as that error says.
    """
    import numpy as np

    if len(values) < LEAST_TASKS:
        return None
    given = sorted(values)
    degrees = len(given) - 1
    reach = t_quantile((1 + CONFIDENCE) / 2, degrees)
    middle = math.fsum(given) / len(given)
    low = high = middle
    if given[0] != given[-1]:
        tail = _below(-reach * math.sqrt(len(given) / degrees))
        low, high = (float(bound) for bound in np.quantile(means(given), [tail, 1 - tail]))
    elif not least_error:
        return None
    return min(low, middle - reach * least_error), max(high, middle + reach * least_error)


def t_quantile(share: float, degrees: float) -> float:
    """Student's t at a share, 0 to 1."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, share))


def _below(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))
