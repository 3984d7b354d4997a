"""Tests whose p-values need no large sample: Fisher's over strata, and sign flips over tasks. All are two-sided.

A p-value is never 0: what cannot be enumerated is sampled, with the observed arrangement counted as one of the samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bench.core.stats.draws import Draws

Table = tuple[int, int, int, int]
"""Successes of a, runs of a, successes of b, runs of b."""

ENUMERATED = 14
"""Up to as many differences every one of the 2^n sign patterns is looked at."""
SAMPLES = 20_000
CELLS = 20_000_000
"""Steps of the exact distribution of whole-number differences beyond which it is sampled."""
_NEAR = 1e-9


def fisher(passed_a: int, runs_a: int, passed_b: int, runs_b: int) -> float:
    """Fisher's exact test of two counts, as one stratum: all tables of these margins no more likely than the one seen.

    Reports tell the test over strata; this name of its simplest case is what published p-values are compared with.
    """
    return stratified([(passed_a, runs_a, passed_b, runs_b)])


def stratified(tables: Sequence[Table]) -> float:
    """Exact conditional test over strata (Zelen's; one stratum is Fisher's), 1.0 without any.

    Under the null hypothesis the runs of a task could each have come from either arm. The statistic is the sum of a's
    successes; arrangements no more likely than the one seen count. It speaks about these tasks, not about others.
    """
    import numpy as np

    spread, seen, offset = np.ones(1), 0, 0
    for passed_a, runs_a, passed_b, runs_b in tables:
        every = passed_a + passed_b
        low, high = max(0, every - runs_b), min(runs_a, every)
        ways = [math.comb(runs_a, x) * math.comb(runs_b, every - x) for x in range(low, high + 1)]
        whole = math.comb(runs_a + runs_b, every)
        spread = np.convolve(spread, np.array([way / whole for way in ways]))
        seen, offset = seen + passed_a, offset + low
    likely = spread[seen - offset]
    return float(min(1.0, spread[spread <= likely * (1 + 1e-7)].sum()))


def sign_flip(values: Sequence[Fraction] | Sequence[float]) -> tuple[float | None, str]:
    """(p, how) of the mean of paired differences, one per task: under the null hypothesis each sign is a coin's.

    Fractions and few numbers give the exact p; more numbers a sampled one that is valid all the same. None without values.
    """
    sizes: list[Any] = sorted(abs(value) for value in list[Any](values) if value)
    if not values:
        return None, "no task with evidence of both arms"
    if not sizes:
        return 1.0, "exact sign-flip test over tasks"
    total: Any = abs(sum(values))
    whole = _whole_numbers(sizes)
    if whole:
        unit, counts = whole
        return _lattice(counts, round(total * unit)), "exact sign-flip test over tasks"
    if len(sizes) <= ENUMERATED:
        return _enumerated([float(size) for size in sizes], float(total)), "exact sign-flip test over tasks"
    return _sampled([float(size) for size in sizes], float(total)), f"sign-flip test over tasks, {SAMPLES} samples"


def least(tasks: int) -> float:
    """The smallest p that sign flips of so many differences can have: 2 of the 2^n patterns."""
    return min(1.0, 2.0 ** (1 - tasks))


def holm(p_values: Mapping[Any, float | None]) -> dict[Any, float | None]:
    """Holm's adjustment of several tests looked at together; None stays None and is not counted."""
    known = sorted((p, place) for place, p in enumerate(p_values.values()) if p is not None)
    names, worst = list(p_values), 0.0
    found: dict[Any, float | None] = dict.fromkeys(names)
    for rank, (p, place) in enumerate(known):
        worst = max(worst, min(1.0, p * (len(known) - rank)))
        found[names[place]] = worst
    return found


def _whole_numbers(sizes: Sequence[Any]) -> tuple[int, list[int]] | None:
    """The sizes as multiples of one unit, where they are fractions and the exact distribution is small enough."""
    if not all(isinstance(size, Fraction | int) for size in sizes):
        return None
    exact = [Fraction(size) for size in sizes]
    unit = math.lcm(*(size.denominator for size in exact))
    counts = [int(size * unit) for size in exact]
    return (unit, counts) if len(counts) * sum(counts) <= CELLS else None


def _lattice(counts: Sequence[int], total: int) -> float:
    import numpy as np

    reach = sum(counts)
    spread = np.zeros(2 * reach + 1)
    spread[reach] = 1.0
    for count in counts:
        moved = np.zeros_like(spread)
        moved[count:] += spread[:-count] / 2
        moved[:-count] += spread[count:] / 2
        spread = moved
    tail = float(spread[reach + total :].sum())
    return min(1.0, 2 * tail) if total else 1.0


def _enumerated(sizes: Sequence[float], total: float) -> float:
    import numpy as np

    bits = np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))[None, :]
    sums = np.abs(((bits & 1) * 2.0 - 1.0) @ np.array(sizes))
    return float((sums >= total - _NEAR * (1 + total)).mean())


def _sampled(sizes: Sequence[float], total: float) -> float:
    import numpy as np

    draws, given, hits = Draws(), np.array(sizes), 0
    step = max(1, 1_000_000 // len(sizes))
    for start in range(0, SAMPLES, step):
        sums = np.abs(draws.signs(min(step, SAMPLES - start), len(sizes)) @ given)
        hits += int((sums >= total - _NEAR * (1 + total)).sum())
    return (1 + hits) / (1 + SAMPLES)
