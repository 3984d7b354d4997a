"""A session graded again, by other labels, another oracle, price or rule: what its cell said before, beside what it says.

The old figures stand in the new record's notes, which reach no key and no result: they are there to be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core.records import Record

FIGURES = {
    "resolved": "resolved",
    "oracle_passed": "oracle passed",
    "review_verdict_correct": "verdict correct",
    "review_blocker_recall": "blocker recall",
    "review_weighted_f1": "weighted F1",
    "review_false_positives": "false positives",
    "review_false_negatives": "missed",
    "cost_usd": "cost_usd",
}
"""Fields of a cell that are compared, and how they are told."""
NOTE = "before"


def before(old: Record | None, session: str | None, body: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the old cell of the same session said of the figures that differ now; None where nothing does.

    A cell made again with nothing changed keeps what it had noted of the time before.
    """
    if old is None or session is None or old.inputs.get("session") != session:
        return None
    changed = {name: old.body.get(name) for name in FIGURES if old.body.get(name) != body.get(name)}
    kept: dict[str, Any] | None = old.notes.get(NOTE)
    return changed or kept


def lines(cells: Sequence[tuple[str, Record | None]]) -> list[str]:
    """Each regraded cell (its name and record) with old and new figures, in the given order."""
    return [f"{name}: {_told(record)}" for name, record in cells if record is not None and record.notes.get(NOTE)]


def notices(told: Sequence[str]) -> list[dict[str, str]]:
    """A notice for the top of the report that these lines stand in it, or none."""
    if not told:
        return []
    sessions = f"{len(told)} session was" if len(told) == 1 else f"{len(told)} sessions were"
    detail = f"{sessions} graded again without running; the old and the new figures stand below"
    return [{"level": "info", "title": "Graded again", "detail": detail}]


def _told(record: Record) -> str:
    old: Mapping[str, Any] = record.notes[NOTE]
    changes = [f"{FIGURES[name]} {_value(old[name])} → {_value(record.body.get(name))}" for name in FIGURES if name in old]
    return ", ".join(changes)


def _value(value: Any) -> str:
    if value is None:
        return "unknown"
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:g}"
