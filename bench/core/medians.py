"""Rows of one task and arm, brought to one row of medians (spec 2.2, readings 8).

Excluded rows never reach a median; a median over rows of which one lacks the value is null, never a median of the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bench.core import error_kinds
from bench.core.numbers import exact, number
from bench.core.records import NOT_RUN

MEASURES = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "cost_usd",
    "duration_s",
    "num_turns",
    "diff_files",
    "diff_insertions",
    "diff_deletions",
)
"""Tokens, USD, seconds, turns, files and lines: medians over the valid rows."""

REVIEW_COUNTS = ("review_true_positives", "review_false_positives", "review_false_negatives")
REVIEW_SHARES = (
    "review_precision",
    "review_recall",
    "review_f1",
    "review_weighted_precision",
    "review_weighted_recall",
    "review_weighted_f1",
    "review_severity_accuracy",
    "review_category_accuracy",
    "review_grounded_evidence",
)
"""0 to 1 where they are known."""
REVIEW_MEASURES = (*REVIEW_COUNTS, *REVIEW_SHARES)
REVIEW_MINIMUM = "review_blocker_recall"
"""The worst run counts: a blocker missed once is a blocker missed."""
REVIEW_ALL = ("review_verdict_correct", "review_clean_control", "review_clean_pass")


def median(values: Sequence[float | None]) -> float | None:
    """Middle value, the mean of the middle two for an even count; null without values or with a null among them.

    Whole numbers stay integers where the result is whole; others are rounded to 6 decimals.
    """
    known = sorted(value for value in values if value is not None)
    if not known or len(known) != len(values):
        return None
    middle = len(known) // 2
    if len(known) % 2:
        return known[middle]
    mean = (Fraction(known[middle - 1]) + Fraction(known[middle])) / 2
    whole = all(isinstance(value, int) for value in known[middle - 1 : middle + 1])
    return int(mean) if whole and mean.denominator == 1 else round(float(mean), 6)


def improvement(measure: str, reference: Any, value: Any) -> Fraction | None:
    """100·(reference − value)/reference percent, rounded to one decimal (spec 2.8).

    None if unmeasured or the reference is 0. A cost of 0 is that of a free model, and ranks nothing.
    """
    before, now = number(reference), number(value)
    if before is None or now is None or not before or (measure == "cost_usd" and not now):
        return None
    return Fraction(round(100 * (exact(before) - exact(now)) / exact(before), 1))


def typical(percents: Sequence[float | None]) -> float | None:
    """The `median` of percents, to one decimal as they are."""
    middle = median(percents)
    return None if middle is None else float(round(exact(middle), 1))


def attempts(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows that stand for work that was begun: all but those held back (state not_run)."""
    return [row for row in rows if row.get("state") != NOT_RUN]


def valid(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows that are evidence about their arm, wrong answers included."""
    return [row for row in attempts(rows) if not error_kinds.excluded(row)]


def counts(rows: Sequence[Mapping[str, Any]], fresh: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """planned, runs, valid, excluded, not_run, resolved (also among the valid and the fresh), error_kinds histogram."""
    begun = attempts(rows)
    kinds = Counter(row["error_kind"] for row in begun if row.get("error_kind"))
    good = valid(rows)
    return {
        "planned": len(rows),
        "runs": len(begun),
        "valid": len(good),
        "excluded": len(begun) - len(good),
        "not_run": len(rows) - len(begun),
        "resolved_valid": sum(row.get("resolved") is True for row in good),
        "resolved": sum(row.get("resolved") is True for row in begun),
        "resolved_fresh": sum(row.get("resolved") is True for row in attempts(fresh)),
        "error_kinds": dict(sorted(kinds.items())),
    }


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every median of the valid rows, by field name; review fields only where a row has any.

    `cache_tokens` is the median of what was written to and read from the cache together, which no sum of medians gives.
    """
    good = valid(rows)
    found: dict[str, Any] = {name: median([number(row.get(name)) for row in good]) for name in MEASURES}
    found["cache_tokens"] = median([_cache(row) for row in good])
    if any(name.startswith("review_") for row in good for name in row):
        found |= {name: median([number(row.get(name)) for row in good]) for name in REVIEW_MEASURES}
        worst = [number(row.get(REVIEW_MINIMUM)) for row in good]
        found[REVIEW_MINIMUM] = None if None in worst else min((v for v in worst if v is not None), default=None)
        found |= {name: _all(good, name) for name in REVIEW_ALL}
    return found


def rate(counted: Mapping[str, Any]) -> float | None:
    """Share of the valid rows that are resolved, 0 to 1, from `counts`; None without valid rows."""
    return counted["resolved_valid"] / counted["valid"] if counted["valid"] else None


def _cache(row: Mapping[str, Any]) -> float | None:
    written, read = (number(row.get(f"cache_{kind}_input_tokens")) for kind in ("creation", "read"))
    return None if written is None or read is None else written + read


def _all(rows: Sequence[Mapping[str, Any]], name: str) -> bool | None:
    said = [row.get(name) for row in rows]
    return all(said) if said and all(isinstance(value, bool) for value in said) else None
