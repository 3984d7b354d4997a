"""A session graded again, by other labels, another oracle, price or rule: what its cell said before, beside what it says.

The old figures are this workspace's history and reach no record: the journal keeps them, and they are laid out beside the
report that whoever graded these sessions once only has too.
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
NOTE = "regraded"
"""Name of the fact in the journal: {figure: [old, new]}."""
Changes = Mapping[str, Sequence[Any]]


def noted(old: Record, new: Record, earlier: Changes | None) -> dict[str, Changes]:
    """The fact for the journal: figures that the old cell of the same session gave otherwise; {} where there is none.

    A cell made again with nothing changed keeps what was noted `earlier`, when the old one was made.
    """
    if old.inputs.get("session") is None or old.inputs.get("session") != new.inputs.get("session"):
        return {}
    told = {name: [old.body.get(name), new.body.get(name)] for name in FIGURES if old.body.get(name) != new.body.get(name)}
    said = told or earlier
    return {NOTE: said} if said else {}


def lines(cells: Sequence[tuple[str, Changes | None]]) -> list[str]:
    """Each regraded cell (its name and what was noted of it) with old and new figures, in the given order."""
    return [f"{name}: {_told(changes)}" for name, changes in cells if changes]


def notices(told: Sequence[str]) -> list[dict[str, str]]:
    """A notice for the top of the report that these lines stand in it, or none."""
    if not told:
        return []
    sessions = f"{len(told)} session was" if len(told) == 1 else f"{len(told)} sessions were"
    detail = f"{sessions} graded again without running; the old and the new figures stand below"
    return [{"level": "info", "title": "Graded again", "detail": detail}]


def _told(changes: Changes) -> str:
    return ", ".join(f"{FIGURES[name]} {' → '.join(map(_value, changes[name]))}" for name in FIGURES if name in changes)


def _value(value: Any) -> str:
    if value is None:
        return "unknown"
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:g}"
