"""The outage breaker: when failures that say nothing about an arm come in an unbroken run, no further session is to start.

Judged in the order in which sessions of this run *started*, over those that have ended: a service that broke shows in the
newest-started ones first, whichever of them ends first, and one that hangs for an hour does not hide the others. A running
session neither breaks the run nor lengthens it; one that was reused, restored or cancelled says nothing about now. So at
most `limit` + workers − 1 sessions start after an outage began (`tests/core/test_breaker_simulation.py`). Knows neither
clock nor reason, and stops nothing by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.core.error_kinds import REVIEW_INVALID, SYSTEMIC


@dataclass(frozen=True, slots=True)
class Ended:
    """A session of this run that has ended: its place in the order of starts, and its kind when that is systemic."""

    started: int
    kind: str | None


def systemic_kind(row: Mapping[str, Any]) -> str | None:
    """The systemic kind of a session or cell (fields error_kind, review_evidence_valid), None when it has none.

    A review whose evidence is invalid counts as such whatever error_kind was recorded first (spec 2.4).
    """
    if row.get("review_evidence_valid") is False:
        return REVIEW_INVALID
    kind = row.get("error_kind")
    return kind if kind in SYSTEMIC else None


def run_length(ended: Iterable[Ended]) -> int:
    """How many of the newest-started sessions failed systemically in an unbroken run."""
    length = 0
    for session in sorted(ended, key=lambda one: one.started, reverse=True):
        if session.kind is None:
            break
        length += 1
    return length


def tripped(ended: Iterable[Ended], limit: int) -> bool:
    """Whether nothing new is to start; a limit of 0 never trips."""
    return limit > 0 and run_length(ended) >= limit
