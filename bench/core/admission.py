"""When a session may start: how long a rate limit is waited for, what a session is expected to cost, what a budget leaves.

Pure arithmetic on what it is told. It decides on starts alone and ends no session; which failures count as an outage is the
breaker's (`bench.core.breaker`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core.numbers import finite
from bench.core.outages import LONGEST_S, MARGIN_S, Outage, pause

LIMITED = frozenset({"rate-limit", "usage-limit"})
"""Outage classes that end by themselves at a time that the service often names."""

TRIES = 3
"""How often one run starts a session that a rate limit ended; after that the limit is an outage like any other."""


def limited(body: Mapping[str, Any]) -> Outage | None:
    """What a session's body (field outage: {cls, resets_at?}) says of a limit; None for any other end."""
    told = body.get("outage")
    if not isinstance(told, Mapping) or told.get("cls") not in LIMITED:
        return None
    return Outage(str(told["cls"]), finite(told.get("resets_at")))


def resume_at(now: float, limit: Outage) -> float | None:
    """When sessions may start again (seconds since 1970), or None when that is further away than a run waits.

    Windows of five hours are waited for; a weekly one is for the next run.
    """
    if limit.resets_at is not None and not limit.resets_at + MARGIN_S - now <= LONGEST_S:
        return None
    return now + pause(limit, now)


def expected_usd(arm: Sequence[float], given: float | None) -> float | None:
    """Dollars that a session is expected to cost: the median of its arm's finished ones, else what the suite says, else
    None = unknown."""
    if not arm:
        return given
    from statistics import median  # for those who have paid: a run that starts nothing needs none of what it loads

    return median(arm)


def over_budget(budget: float, spent: float, reserved: float, expected: float | None) -> str | None:
    """Why a session is held back, all in dollars; `reserved` is what running sessions are expected to spend yet.

    A session of unknown cost counts as nothing, and may start as long as anything is left.
    """
    if spent + reserved >= budget:
        running = f", ${reserved:.2f} expected of running ones" if reserved else ""
        return f"the budget of ${budget:.2f} is used up (${spent:.2f} spent in this run{running})"
    if expected is not None and spent + reserved + expected > budget:
        known = f"${spent + reserved:.2f} spent or expected of running sessions in this run"
        return f"the budget of ${budget:.2f} does not cover it ({known}, this one expected to cost ${expected:.2f})"
    return None
