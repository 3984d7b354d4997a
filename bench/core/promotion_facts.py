"""What is true of the whole sweep behind a promotion: completeness, health, calibration, age, loss, alarms.

Times are those of the measurements: `generated_at` is the newest, the expiry the oldest plus the age limit. No clock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bench.core import calendar, digest, medians
from bench.core.gate_evidence import ABORTED, COMPLETE
from bench.core.promotion_sides import Measured
from bench.core.records import FINAL
from bench.core.rows import Where, name, where

Row = Mapping[str, Any]


def facts(
    aggregate: Mapping[str, Any],
    judged: Mapping[str, Any],
    found: Mapping[Where, Measured],
    params: Mapping[str, Any],
) -> dict[str, Any]:
    """The facts that `gate_evidence` judges. `params`: pairs, comparators, overlay, left_out, max_age_days, acknowledge."""
    competing = [arm for pair in params["pairs"] for arm in pair]
    rows = [row for row in aggregate["rows"] if row["arm"] in competing]
    good = medians.valid(rows)
    stamps = sorted(stamp for row in good if (stamp := found.get(where(row), Measured(False)).measured_at))
    watched = [*competing, *params["comparators"]]
    return {
        "overlay": params["overlay"] is not None,
        "left_out": list(params["left_out"]),
        "run_status": COMPLETE if aggregate["complete"] and aggregate["planned"] else ABORTED,
        "planned": aggregate["planned"],
        "measured": aggregate["measured"],
        "calibration": {entry["task"]: {k: entry.get(k) for k in ("calibration", "why")} for entry in aggregate["tasks"]},
        "arms": {arm: (judged["arms"].get(arm) or {}).get("state", "UNKNOWN") for arm in watched},
        "lost": [name(row) for row in good if row["state"] == FINAL and not _whole(row, found)],
        "ungraded": [name(row) for row in good if row["state"] != FINAL],
        "oldest_measured_at": stamps[0] if stamps else None,
        "newest_measured_at": stamps[-1] if stamps else None,
        "max_age_days": params["max_age_days"],
        "evidence_expires_at": calendar.later(stamps[0], params["max_age_days"]) if stamps else None,
        "alarms": _alarms(aggregate["alarms"], competing, params["acknowledge"]),
        "replayed": sum(row.get("replayed") is True for row in good),
        "main_loop_only": any(found.get(where(row), Measured(False)).main_loop_only for row in good),
        "client_turns": any(found.get(where(row), Measured(False)).client_turns for row in good),
        "sandbox_backends": sorted({box for row in good if (box := found.get(where(row), Measured(False)).sandbox)}),
    }


def _whole(row: Row, found: Mapping[Where, Measured]) -> bool:
    known = found.get(where(row))
    return known is not None and known.whole and known.measured_at is not None


def _alarms(alarms: Sequence[Row], arms: Collection[str], acknowledged: Collection[str]) -> list[dict[str, Any]]:
    """Alarms that concern the arms, each with the short id by which a suite acknowledges it."""
    found = {}
    for alarm in alarms:
        if set(alarm["arms"]) & set(arms):
            said = {name: alarm[name] for name in ("kind", "task", "arms", "run", "detail")}
            name = alarm_id(alarm)
            found[name] = {"id": name, **said, "acknowledged": name in acknowledged}
    return [found[name] for name in sorted(found, key=lambda name: (found[name]["task"], name))]


def alarm_id(alarm: Row) -> str:
    """Twelve hex digits over what an alarm says: another run's alarm is another one."""
    said = [alarm[name] for name in ("kind", "task", "arms", "run", "detail")]
    return digest.of("assay/alarm/1", said).removeprefix(digest.PREFIX)[:12]
