"""The report in a few lines of plain text, for a console: what was measured, the arms side by side, what is doubtful."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

HEADINGS = ("arm", "role", "state", "resolved", "excluded", "not run", "cost", "vs", "resolved", "cost")
DROPPED = (1, 5, 4, 2, 9, 7, 8, 6)
"""Columns in the order in which a narrow terminal loses them: role first, what was resolved never."""
_CELL = re.compile(r"\S+(?: \S+)*")
DIAGNOSTIC = "one run per cell: diagnostic only, no difference between arms is shown by it"
FREE = "the model is free, or its price is not known; its costs rank nothing"


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


def lines(suite: str, arms: Sequence[Mapping[str, Any]], aggregate: Mapping[str, Any], runs: int) -> list[str]:
    """Heading, table of arms, and one line per doubt."""
    measured = f"{aggregate['measured']} of {aggregate['planned']} cells measured"
    found = [f"{suite}: {measured}" + ("" if aggregate["complete"] else f" (incomplete {measured.split(' cells')[0]})")]
    found += _columns([HEADINGS, *(_row(arm) for arm in arms)])
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


def fitted(lines: Sequence[str], arms: int, columns: int | None) -> list[str]:
    """The same lines, but the table of `arms` arms without those of its columns for which a terminal has no room.

    `columns`: the terminal's, or None where there is none. The first column and the results stay longest.
    """
    found = list(lines)
    at = next((i for i, line in enumerate(found) if tuple(_CELL.findall(line)) == HEADINGS), None)
    if columns is None or at is None:
        return found
    table = found[at : at + 1 + arms]
    starts = [cell.start() for cell in _CELL.finditer(table[0])]
    rows = [[line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)] for line in table]
    shown = list(range(len(starts)))
    for column in DROPPED:
        if max(map(len, table)) > columns:
            shown.remove(column)
            table = _columns([[row[i] for i in shown] for row in rows])
    return [*found[:at], *table, *found[at + 1 + arms :]]


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


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
