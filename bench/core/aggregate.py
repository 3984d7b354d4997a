"""Cells of a task, then of a suite, brought into one compact body that health, promotion and report can work from.

A planned cell without a record is counted as not run, so that evidence never shrinks unseen. Nothing is dropped or
averaged here but by `medians`; compact rows leave out what is unknown (an absent field is unknown, never 0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import health, medians, suspicions
from bench.core.records import NOT_RUN, UNUSABLE, Record
from bench.core.suite import CANDIDATE

SAID = (
    *medians.MEASURES,
    *medians.REVIEW_MEASURES,
    medians.REVIEW_MINIMUM,
    *medians.REVIEW_ALL,
    "ok",
    "authored_tests_passed",
    "oracle_passed",
    "skill_invoked",
    "transcript_missing",
    "review_evidence_valid",
    "error_kind",
    "error_class",
    "churn_digest",
    "list_price_usd",
    "spent_usd",
    "replayed",
    "backing",
    "model",
    "effort",
)
"""Fields that a compact row takes from a cell's body as they are."""
DETAIL = 300
"""Characters of an error's detail that a compact row keeps; the cell's own record has all of it."""
NO_RECORD = "no record of this cell"

Row = Mapping[str, Any]


def compact(identity: Mapping[str, Any], cell: Record | None) -> dict[str, Any]:
    """One cell as a compact row. `identity` is {task, class, arm, role, run}; `cell` is None where no record exists."""
    row = dict(identity)
    if cell is None:
        return row | {"state": NOT_RUN, "reason": NO_RECORD, "resolved": False}
    body = cell.body
    row |= {name: body[name] for name in SAID if body.get(name) is not None}
    row |= {"state": cell.state, "resolved": body.get("resolved") is True, "cell": [cell.key, cell.content]}
    if "patch" in cell.outputs:
        # The patch itself: the digest of all changes also covers noise that git leaves out.
        row["churn_digest"] = cell.outputs["patch"].blob
    if cell.state == UNUSABLE and "error_kind" not in row:
        # The cell's own code gave up: ours to answer for, not the arm's.
        row["error_kind"] = "infra-error"
    detail = body.get("error_detail") or cell.reason
    if detail:
        row["reason"] = str(detail)[:DETAIL]
    if body.get("session_key"):
        row["session"] = [body["session_key"], cell.inputs.get("session")]
    if body.get("alarms"):
        row["alarms"] = [{"kind": alarm["kind"], "detail": str(alarm["detail"])[:DETAIL]} for alarm in body["alarms"]]
    return row


def of_task(task: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """Body of a task's aggregate. `task` is {task, class, engines: {arm: engine}}; `rows` are its compact rows."""
    entry = {"task": task["task"], "class": task["class"]} | suspicions.calibration(rows, task.get("engines", {}))
    alarms = [_alarm(row, alarm) for row in rows for alarm in row.get("alarms", ())] + suspicions.identical_churn(rows)
    groups = []
    for arm in _in_order(row["arm"] for row in rows):
        mine = [row for row in rows if row["arm"] == arm]
        first = {name: mine[0][name] for name in ("task", "class", "arm", "role")}
        groups.append(first | medians.counts(mine, mine) | {"medians": medians.summary(mine)})
    return _whole([entry], groups, rows, alarms, [])


def merged(parts: Sequence[Mapping[str, Any]], skipped: Sequence[str]) -> dict[str, Any]:
    """Body of an aggregate of aggregates, in the order given. `skipped` names the expensive tasks that were left out."""
    every = {
        name: [item for part in parts for item in part[name]] for name in ("tasks", "groups", "rows", "alarms", "skipped")
    }
    left_out = _in_order([*every["skipped"], *skipped])
    return _whole(every["tasks"], every["groups"], every["rows"], every["alarms"], left_out)


def _whole(
    tasks: Sequence[Any], groups: Sequence[Any], rows: Sequence[Row], alarms: Sequence[Any], skipped: Sequence[str]
) -> dict[str, Any]:
    candidate = any(row["role"] == CANDIDATE for row in rows)
    arms = {}
    for arm in _in_order(row["arm"] for row in rows):
        mine = [row for row in rows if row["arm"] == arm]
        # Records are byte-identical whether reused or not; a candidate's cells are new by definition (design section 6).
        new = mine if mine[0]["role"] == CANDIDATE or not candidate else []
        arms[arm] = {"role": mine[0]["role"]} | medians.counts(mine, new) | health.counters(mine)
    measured = len(medians.attempts(rows))
    return {
        "tasks": list(tasks),
        "skipped": list(skipped),
        "groups": list(groups),
        "arms": arms,
        # Canonical JSON sorts the keys of `arms`; tables keep the suite's order.
        "arm_order": list(arms),
        "rows": [dict(row) for row in rows],
        "alarms": list(alarms),
        "warnings": suspicions.warnings(rows),
        "planned": len(rows),
        "measured": measured,
        "complete": measured == len(rows),
    }


def _alarm(row: Row, alarm: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": alarm["kind"], "task": row["task"], "arms": [row["arm"]], "run": row["run"], "detail": alarm["detail"]}


def _in_order(names: Any) -> list[str]:
    return list(dict.fromkeys(names))
