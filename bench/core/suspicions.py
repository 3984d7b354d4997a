"""What makes evidence doubtful beyond one cell: look-alike patches, lopsided exclusions, mixed conditions, broken tasks.

An alarm or a warning is shown beside the numbers; it never changes one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.core import error_kinds, medians
from bench.core.overrides_sandbox import UNSAFE, WARNING
from bench.core.records import NOT_RUN
from bench.core.suite import CALIBRATION

SEPARATES = "separates"
BROKEN = "broken"
UNPROVEN = "unproven"
UNMEASURED = "unmeasured"
"""Nop or gold was planned and gave no evidence: the task may be broken, and nothing says that it is not."""
LOPSIDED_POINTS = 10
"""Exclusion rates that differ by as many percentage points are lopsided; so is any exclusion on some arms only."""

Row = Mapping[str, Any]


def calibration(rows: Sequence[Row], engines: Mapping[str, str]) -> dict[str, Any]:
    """{calibration: separates | broken | unmeasured | unproven, why: str | None} of a task: nop must fail the oracle, gold
    must pass.

    `engines` maps arms to engine names; an arm that it does not name is taken to be called after its engine.
    """
    planned: dict[str, list[Row]] = {"nop": [], "gold": []}
    for row in rows:
        engine = engines.get(row["arm"], row["arm"])
        if row["role"] == CALIBRATION and engine in planned:
            planned[engine].append(row)
    ran = {name: medians.valid(found) for name, found in planned.items()}
    faults = []
    if any(row.get("oracle_passed") is True for row in ran["nop"]):
        faults.append("its oracle passes without any change (nop)")
    if any(row.get("oracle_passed") is False for row in ran["gold"]):
        faults.append("its oracle fails on the reference solution (gold)")
    elif any(row.get("resolved") is not True for row in ran["gold"]):
        faults.append("the reference solution (gold) does not resolve it")
    if faults:
        return {"calibration": BROKEN, "why": " and ".join(faults)}
    absent = [name for name, found in ran.items() if not found]
    if absent:
        state = UNMEASURED if any(planned[name] for name in absent) else UNPROVEN
        return {"calibration": state, "why": "no valid cell of " + " and ".join(absent)}
    if any(row.get("oracle_passed") is None for row in ran["nop"]):
        return {"calibration": UNPROVEN, "why": "no oracle told nop from gold"}
    return {"calibration": SEPARATES, "why": None}


def identical_churn(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Alarms for the same non-empty patch on a task from different arms. Calibration and replayed cells are exempt."""
    seen: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["role"] != CALIBRATION and not row.get("replayed") and row.get("diff_files") and row.get("churn_digest"):
            seen[f"{row['task']}\0{row['churn_digest']}"].append(row)
    found = []
    for same in seen.values():
        arms = list(dict.fromkeys(row["arm"] for row in same))
        if len(arms) > 1:
            where = ", ".join(f"{row['arm']}/{row['run']}" for row in same)
            detail = f"the same patch of {same[0]['diff_files']} file(s) came from {where}: did one arm see another's work?"
            found.append({"kind": "identical-churn", "task": same[0]["task"], "arms": arms, "run": None, "detail": detail})
    return found


def warnings(rows: Sequence[Row]) -> list[dict[str, str]]:
    """[{kind, detail}] over the rows of a task or a suite. Calibration arms never compete, and count only where the sandbox
    was left out: their verdicts calibrate."""
    measured = [row for row in rows if row["role"] != CALIBRATION]
    return [
        *_unsafe(rows),
        *_lopsided(measured),
        *_mixed(measured, "backing"),
        *_mixed(measured, "model"),
        *_mixed(measured, "effort"),
    ]


def _unsafe(rows: Sequence[Row]) -> list[dict[str, str]]:
    if not any(row.get("backing") == UNSAFE for row in rows):
        return []
    return [{"kind": UNSAFE, "detail": WARNING}]


def _lopsided(rows: Sequence[Row]) -> Iterable[dict[str, str]]:
    lost: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        lost[row["arm"]].append(row["state"] == NOT_RUN or error_kinds.excluded(row))
    shares = {arm: 100 * sum(flags) / len(flags) for arm, flags in lost.items()}
    if len(shares) < 2 or max(shares.values()) == min(shares.values()):
        return
    if min(shares.values()) > 0 and max(shares.values()) - min(shares.values()) < LOPSIDED_POINTS:
        return
    said = ", ".join(f"{arm} {sum(flags)} of {len(flags)}" for arm, flags in lost.items())
    detail = f"runs without evidence are not spread evenly over the arms ({said}): what is left may favour one of them"
    yield {"kind": "lopsided-exclusions", "detail": detail}


def _mixed(rows: Sequence[Row], field: str) -> Iterable[dict[str, str]]:
    used: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.get(field) is not None:
            used[row["arm"]].add(str(row[field]))
    if len(set().union(*used.values())) > 1:
        said = ", ".join(f"{arm}: {' and '.join(sorted(values))}" for arm, values in used.items())
        yield {"kind": f"different-{field}", "detail": f"not all cells had the same {field} ({said})"}
