"""Whether the measurement of each arm worked (spec 2.5): judged from execution and evidence, never from what was resolved.

A fresh attempt is a candidate's own cell or a canary of an incumbent or comparator; where an arm has no canary, and in a
suite without candidate, every cell is one. A failed cell always is one: no canary hides an arm that never worked. No cause
is named: the state says that something is wrong, not what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.core import error_kinds, medians
from bench.core.suite import CANDIDATE, COMPARATOR, INCUMBENT
from bench.core.suspicions import BROKEN

UNKNOWN = "UNKNOWN"
UNUSABLE = "UNUSABLE"
DEGRADED = "DEGRADED"
OBSERVED_OK = "OBSERVED_OK"
FATAL_ROLES = frozenset({INCUMBENT, COMPARATOR})
CAUSE = "undetermined"
COUNTERS = ("fresh_attempts", "execution_failures", "evidence_failures", "admissible")

Row = Mapping[str, Any]


def with_canaries(arms: Mapping[str, Mapping[str, Any]], canaries: Mapping[str, Sequence[Row]]) -> dict[str, dict[str, Any]]:
    """Arms of an aggregate; those that have canaries are counted by these, and by what failed of their own sessions.

    A session that worked may be a reused one, and says nothing of today; one that failed is never forgotten for a canary
    that did not. A candidate is its own canary, and a canary that was not run says nothing of anything.
    """
    found = {}
    spoken = reused(arms, canaries)
    for name, arm in arms.items():
        sung = medians.attempts(canaries[name]) if name in spoken else []
        found[name] = dict(arm) | (_beside(arm, counters(sung)) | {"canaries": len(sung)} if sung else {})
    return found


def _beside(arm: Mapping[str, Any], sung: Mapping[str, Any]) -> dict[str, Any]:
    """The counters of canaries, with those of an arm's failed rows."""
    failed = arm["fresh_attempts"] - arm["admissible"]
    return {
        "fresh_attempts": sung["fresh_attempts"] + failed,
        "execution_failures": sung["execution_failures"] + arm["execution_failures"],
        "evidence_failures": sung["evidence_failures"] + arm["evidence_failures"],
        "admissible": sung["admissible"],
        "health_reasons": dict(sorted((Counter(sung["health_reasons"]) + Counter(arm["health_reasons"])).items())),
    }


def reused(arms: Mapping[str, Mapping[str, Any]], canaries: Mapping[str, Sequence[Row]]) -> set[str]:
    """Arms whose rows that worked may all be reused: those that canaries speak for."""
    return {name for name, arm in arms.items() if arm["role"] != CANDIDATE and medians.attempts(canaries.get(name, ()))}


def failed(row: Row) -> bool:
    """Whether a row counts as a failure, of execution or of evidence."""
    return error_kinds.execution_failed(row) or error_kinds.evidence_failed(row)


def counters(rows: Sequence[Row]) -> dict[str, Any]:
    """Counts over fresh rows, and health_reasons (sorted, with how often each was seen).

    `admissible` counts the rows that fail neither way; one row can fail both ways, so it is no difference of the others.
    """
    begun = medians.attempts(rows)
    execution = [error_kinds.execution_failed(row) for row in begun]
    evidence = [error_kinds.evidence_failed(row) for row in begun]
    reasons = Counter(reason for row in begun for reason in _reasons(row))
    return {
        "fresh_attempts": len(begun),
        "execution_failures": sum(execution),
        "evidence_failures": sum(evidence),
        "admissible": sum(not (a or b) for a, b in zip(execution, evidence, strict=True)),
        "health_reasons": dict(sorted(reasons.items())),
    }


def _reasons(row: Row) -> set[str]:
    found = set()
    if error_kinds.execution_failed(row) or row.get("error_kind") in error_kinds.EVIDENCE_FAILURE:
        found.add(str(row["error_kind"]))
    if row.get("review_evidence_valid") is False:
        found.add(error_kinds.REVIEW_INVALID)
    if row.get("transcript_missing") is True:
        found.add("transcript-missing")
    return found


def state(counted: Mapping[str, Any]) -> str:
    """The state that counters amount to."""
    failures = counted["execution_failures"] + counted["evidence_failures"]
    if not counted["fresh_attempts"]:
        return UNKNOWN
    if not failures:
        return OBSERVED_OK
    return DEGRADED if counted["admissible"] else UNUSABLE


def of_aggregate(body: Mapping[str, Any], canaries: Mapping[str, Sequence[Row]] | None = None) -> dict[str, Any]:
    """`judge` on a suite's aggregate, its arms in the suite's order, with planned, measured and complete."""
    arms = with_canaries({name: body["arms"][name] for name in body["arm_order"]}, canaries or {})
    judged = judge(arms, [task for task in body["tasks"] if task["calibration"] == BROKEN])
    return judged | {name: body[name] for name in ("planned", "measured", "complete")}


def judge(arms: Mapping[str, Mapping[str, Any]], broken: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The body of a health record.

    `arms` maps an arm to {role, counters…}; `broken` are tasks {task, why} that prove nothing. `fatal` lists the arms
    whose state ends the run with exit code 1: unusable incumbents and comparators.
    """
    states = {}
    for name, arm in arms.items():
        found = state(arm)
        states[name] = {
            "role": arm["role"],
            "state": found,
            "fatal": found == UNUSABLE and arm["role"] in FATAL_ROLES,
            "cause": None if found == OBSERVED_OK else CAUSE,
            "planned": arm.get("planned", arm["fresh_attempts"]),
            "not_run": arm.get("not_run", 0),
            "canaries": arm.get("canaries", 0),
            "health_reasons": dict(arm["health_reasons"]),
        } | {counter: arm[counter] for counter in COUNTERS}
    tasks = [{"task": entry["task"], "why": entry["why"]} for entry in broken]
    return {
        "arms": states,
        "fatal": [name for name, entry in states.items() if entry["fatal"]],
        "broken_tasks": tasks,
        "lines": [_line(name, entry) for name, entry in states.items()]
        + [f"broken task {entry['task']}: {entry['why']}; it promotes nothing" for entry in tasks],
    }


def _whose(entry: Mapping[str, Any]) -> str:
    failed = entry["fresh_attempts"] - entry["canaries"]
    own = f", and {failed} of its sessions that failed" if failed else ": all else is reused"
    return f" (its canaries{own})"


def _line(name: str, entry: Mapping[str, Any]) -> str:
    text = f"{name} ({entry['role']}): {entry['state']}"
    text += f", {entry['admissible']} of {entry['fresh_attempts']} fresh attempts admissible"
    text += _whose(entry) if entry["canaries"] else ""
    if entry["execution_failures"] or entry["evidence_failures"]:
        text += f", {entry['execution_failures']} failed in execution, {entry['evidence_failures']} in evidence"
    if entry["health_reasons"]:
        text += ", reasons: " + ", ".join(f"{reason} ×{count}" for reason, count in entry["health_reasons"].items())
    if entry["not_run"]:
        text += f", {entry['not_run']} not run"
    return text + (f", cause={entry['cause']}" if entry["cause"] else "")
