"""One arm's side of a comparison: what was planned, bought and kept, how often runs agree, and what one run costs.

Nothing is left out silently: every planned run is valid, excluded or not run, and where two arms differ in that it is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bench.core.stats.pairs as pairs
import bench.core.stats.passes as passes
from bench.core import medians, suspicions

MOST_ATTEMPTS_APART = 1
"""Sessions bought for one arm beyond the other's before it is said: re-run until lucky looks like this."""
COUNTED = ("planned", "valid", "excluded", "not_run", "resolved", "error_kinds")

Row = Mapping[str, Any]
Side = Mapping[str, Any]


def side(rows: Sequence[Row]) -> dict[str, Any]:
    """{arm, planned, attempts, valid, excluded, not_run, resolved, error_kinds, median_cost_usd, replayed, pass, flip_…}.

    `attempts` adds up the rows' own count of sessions bought where they have one; every other begun row is one attempt.
    Raises ValueError where the rows name more than one arm.
    """
    names = sorted({row["arm"] for row in rows})
    if len(names) > 1:
        raise ValueError(f"rows of one arm were expected, not of {', '.join(names)}")
    begun, good = medians.attempts(rows), medians.valid(rows)
    counted = medians.counts(rows, ())
    found: dict[str, Any] = {"arm": names[0] if names else None} | {name: counted[name] for name in COUNTED}
    found["attempts"] = sum(_bought(row) for row in begun)
    found["median_cost_usd"] = medians.median([row.get("cost_usd") for row in good])
    found["replayed"] = sum(row.get("replayed") is True for row in begun)
    per_task = {task: pairs.resolved(mine) for task, mine in pairs.by_task(rows).items()}
    return found | passes.of_arm(per_task)


def lopsided(a: Side, b: Side) -> list[str]:
    """Sentences on what was lost or bought unequally; none where both sides lost the same."""
    found = []
    for name, words in (("excluded", "excluded as no evidence"), ("not_run", "not run")):
        if _uneven(*((each[name], each["planned"]) for each in (a, b))):
            told = ", ".join(f"{each[name]} of {each['planned']} of {each['arm']}" for each in (a, b))
            found.append(f"runs {words} differ: {told}; what is left may favour one of them")
    if a["planned"] != b["planned"]:
        found.append(f"{a['planned']} runs of {a['arm']} were planned and {b['planned']} of {b['arm']}")
    extra = [each["attempts"] - (each["planned"] - each["not_run"]) for each in (a, b)]
    if abs(extra[0] - extra[1]) > MOST_ATTEMPTS_APART:
        told = ", ".join(f"{more} of {each['arm']}" for more, each in zip(extra, (a, b), strict=True))
        found.append(f"sessions bought again differ: {told}; whoever tries more often looks better")
    return found


def _uneven(first: tuple[int, int], second: tuple[int, int]) -> bool:
    shares = [100 * lost / planned if planned else 0.0 for lost, planned in (first, second)]
    apart = abs(shares[0] - shares[1])
    return apart > 0 and (min(shares) == 0 or apart >= suspicions.LOPSIDED_POINTS)


def _bought(row: Row) -> int:
    count = row.get("attempts")
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 1
