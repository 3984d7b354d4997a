"""The report in a few lines of plain text, for a console: what was measured, the arms side by side, what is doubtful."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HEADINGS = ("arm", "role", "state", "resolved", "excluded", "not run", "cost", "vs", "resolved", "cost")
DROPPED = (1, 5, 4, 2, 9, 7, 8, 6)
"""Columns in the order in which a narrow terminal loses them: role first, what was resolved never."""
DIAGNOSTIC = "one run per cell: diagnostic only, no difference between arms is shown by it"
Line = str | Sequence[str]
"""A sentence, or a row of the table of arms."""
FREE = "the model is free, or has no row in corpus/prices.json; its costs rank nothing"


def signed(value: float | None, unit: str) -> str:
    """`+12.5 %`, `−3 points`, `±0 %`, or `–` for unknown."""
    if value is None:
        return "–"
    return f"{'+' if value > 0 else '−'}{abs(value):.1f} {unit}" if value else f"±0 {unit}"


def dearer(saved_pct: float | None) -> float | None:
    """A saving in percent as a change in percent: what is saved counts down."""
    return None if saved_pct is None else -saved_pct or 0.0


def unpriced(arms: Sequence[Mapping[str, Any]]) -> list[str]:
    """Arms whose sessions used tokens that have no price, or cost nothing: free and local models."""
    return [arm["name"] for arm in arms if arm["medians"]["output_tokens"] and not arm["medians"]["cost_usd"]]


def said(suite: str, arms: Sequence[Mapping[str, Any]], aggregate: Mapping[str, Any], runs: int) -> list[Line]:
    """Heading, table of arms, and one sentence per doubt."""
    measured = f"{aggregate['measured']} of {aggregate['planned']} cells measured"
    head = f"{suite}: {measured}" + ("" if aggregate["complete"] else f" (incomplete {measured.split(' cells')[0]})")
    found: list[Line] = [head, HEADINGS, *(_row(arm) for arm in arms)]
    if runs == 1:
        found.append(DIAGNOSTIC)
    if free := unpriced(arms):
        found.append(f"directional only: {', '.join(free)}: {FREE}")
    if any(arm["replayed"] for arm in arms):
        found.append("replayed from recordings: spent $0, costs are list prices of the recorded model")
    found += [f"warning: {entry['detail']}" for entry in aggregate["warnings"]]
    found += [f"alarm: {entry['kind']} on {entry['task']}: {entry['detail']}" for entry in aggregate["alarms"]]
    found += [f"broken task {t['task']}: {t['why']}" for t in aggregate["tasks"] if t["calibration"] == "broken"]
    if aggregate["skipped"]:
        found.append(f"skipped as expensive: {', '.join(aggregate['skipped'])} (expensive=1 runs them)")
    return found


def lines(said: Sequence[Line], columns: int | None = None) -> list[str]:
    """What was `said` as text, the table without those of its columns for which a terminal has no room.

    `columns`: the terminal's, or None where there is none. The first column and the results stay longest.
    """
    drawn = iter(_drawn([row for row in said if not isinstance(row, str)], columns))
    return [line if isinstance(line, str) else next(drawn) for line in said]


def _drawn(table: Sequence[Sequence[str]], columns: int | None) -> list[str]:
    shown = list(range(len(table[0]))) if table else []
    found = _columns(table, shown)
    for column in DROPPED if columns is not None else ():
        if max(map(len, found), default=0) > (columns or 0):
            shown.remove(column)
            found = _columns(table, shown)
    return found


def _row(arm: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        arm["name"],
        arm["role"],
        arm["state"] or "–",
        f"{arm['resolved']}/{arm['planned']}",
        str(arm["excluded"]),
        str(arm["not_run"]),
        arm["cost_text"],
        arm["against"] or "",
        signed(arm["resolved_points"], "points") if arm["against"] else "",
        signed(dearer(arm["cost_saved_pct"]), "%") if arm["against"] else "",
    )


def _columns(table: Sequence[Sequence[str]], shown: Sequence[int]) -> list[str]:
    widths = [max(len(row[i]) for row in table) for i in shown]
    return ["  ".join(row[i].ljust(width) for i, width in zip(shown, widths, strict=True)).rstrip() for row in table]
