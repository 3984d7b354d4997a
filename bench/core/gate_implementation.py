"""The gate of implementation arms (spec 2.8): solve no less, cost little more on any task, and solve or save enough in all.

A task that neither arm ever solves says little about quality and is *ungated*, unless a skill was never loaded there or its
metric is unknown: it only faces the cap on failed tasks, and too many of them leave nothing to decide by. Improvements are
rounded to one decimal before anything is compared with them; exactly at a cap passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bench.core import gate, medians
from bench.core.error_kinds import SKILL_ATTRIBUTABLE
from bench.core.gate import Check, Judged, Pair, Policy, Side, Verdict
from bench.core.numbers import exact

METRICS = ("cost_usd", "output_tokens", "duration_s", "num_turns")
MAIN_LOOP_ONLY = {"output_tokens": "main_loop_only", "num_turns": "client_turns"}
"""Metrics that may be an engine's own count, and the fact that says so."""
MARGIN = 2
"""More tasks' runs solved that promote by themselves; one is noise."""
RULE = (
    "insufficient unless every gated task has the same number of valid runs of both arms, at least min_runs, none excluded, "
    "and the metric, measured and not 0 in the incumbent (a cost of 0 is a free model's, and in either arm no measure of "
    "anything); keep if a gated task is solved less often, if the candidate does not solve it every time although the "
    "incumbent did once or a skill was never loaded, or if the metric is worse by more than max_task_regression_pct (on a "
    "task that neither arm solves: max_failed_task_regression_pct); promote if two more runs are solved in all, or if the "
    "median improvement of the gated tasks reaches min_improvement_pct"
)


def judge(pairs: Sequence[Pair], policy: Policy) -> Judged:
    """Checks per task and for the set. Pairs come in the order of the selected tasks."""
    checks: list[Check] = []
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        mine, judged, gain = _task(pair, policy)
        checks += mine
        said = {"task": pair.task, "class": pair.cls, "gated": judged, "improvement_pct": _told(gain)}
        rows.append(said | {"incumbent": pair.incumbent, "candidate": pair.candidate})
    checks += _coverage(rows, policy)
    gated = [row for row in rows if row["gated"]]
    middle = medians.median([row["improvement_pct"] for row in gated])
    margin = sum(_solved(row["candidate"]) - _solved(row["incumbent"]) for row in rows)
    checks += [_margin(margin), _saved(middle, policy)]
    fields = {
        "median_improvement_pct": middle,
        "resolved_margin": margin,
        "gated_tasks": [row["task"] for row in gated],
        "ungated_tasks": [row["task"] for row in rows if not row["gated"]],
    }
    return Judged(tuple(checks), tuple(rows), fields)


def _solved(side: Side | None) -> int:
    return int(side["resolved"]) if side else 0


def _told(gain: Fraction | None) -> float | None:
    return None if gain is None else float(gain)


def _task(pair: Pair, policy: Policy) -> tuple[list[Check], bool, Fraction | None]:
    measured = gate.measured(pair, policy)
    incumbent, candidate = pair.incumbent, pair.candidate
    if incumbent is None or candidate is None:
        return measured, True, None
    metric = policy["metric"]
    values = [incumbent.get(metric), candidate.get(metric)]
    gain = medians.improvement(metric, *values)
    whole = all(check.verdict is Verdict.PASS for check in measured)
    unsolved = not _solved(incumbent) and not _solved(candidate)
    skipped = any(_unloaded(side) for side in (incumbent, candidate))
    if whole and unsolved and not skipped and gain is not None:
        return [*measured, _cap(pair, gain, policy)], False, gain
    if gain is None:
        zero = "0" if metric == "cost_usd" else "0 in the incumbent"  # free models cost nothing, and so save nothing
        why = f"{metric} is not measured in both arms, or is {zero}"
        return [*measured, gate.insufficient(pair, "metric", values, why)], True, None
    checks = [*measured, _rate(pair, incumbent, candidate), _floor(pair, incumbent, candidate, skipped)]
    return [*checks, _efficiency(pair, gain, policy)], True, gain


def _unloaded(side: Side) -> bool:
    kinds: Mapping[str, int] = side["error_kinds"]
    return any(kinds.get(kind) for kind in SKILL_ATTRIBUTABLE)


def _regression(pair: Pair, check: str, value: Any, threshold: Any, bad: bool, why: str) -> Check:
    return Check(check, pair.task, value, threshold, Verdict.REGRESSION if bad else Verdict.PASS, f"{pair.task}: {why}")


def _cap(pair: Pair, gain: Fraction, policy: Policy) -> Check:
    most = policy["max_failed_task_regression_pct"]
    why = f"{policy['metric']} changed by {_signed(-gain)} % on a task that neither arm solves"
    return _regression(pair, "failed_task_regression", float(gain), -most, gain < -exact(most), why)


def _rate(pair: Pair, incumbent: Side, candidate: Side) -> Check:
    before, now = (Fraction(_solved(side), side["valid_runs"] or 1) for side in (incumbent, candidate))
    why = f"solved {_of(incumbent)} before and {_of(candidate)} now"
    return _regression(pair, "resolved_rate", _share(now), _share(before), now < before, why)


def _floor(pair: Pair, incumbent: Side, candidate: Side, skipped: bool) -> Check:
    """Reading 11: literal. An incumbent with 1 of 3 and a candidate with 2 of 3 is keep."""
    applies = _solved(incumbent) >= 1 or skipped
    missed = _solved(candidate) < candidate["valid_runs"]
    why = f"the candidate solved {_of(candidate)}"
    why += ", and a skill was never loaded" if skipped else ", and the incumbent has shown that it can be solved"
    threshold = candidate["valid_runs"] if applies else None
    return _regression(pair, "quality_floor", _solved(candidate), threshold, applies and missed, why)


def _efficiency(pair: Pair, gain: Fraction, policy: Policy) -> Check:
    most = policy["max_task_regression_pct"]
    why = f"{policy['metric']} changed by {_signed(-gain)} %"
    return _regression(pair, "efficiency", float(gain), -most, gain < -exact(most), why)


def _coverage(rows: Sequence[Mapping[str, Any]], policy: Policy) -> list[Check]:
    if not rows:
        return [Check("paired_tasks", None, 0, 1, Verdict.INSUFFICIENT, "no task has both arms")]
    gated = sum(row["gated"] for row in rows)
    least = policy["min_gated_task_ratio"]
    ratio = Fraction(gated, len(rows))
    good = gated > 0 and ratio >= exact(least)
    why = f"{gated} of {len(rows)} tasks can be judged; on the others neither arm ever succeeds"
    found = [Check("gated_ratio", None, _share(ratio), least, Verdict.PASS if good else Verdict.INSUFFICIENT, why)]
    left = [row["task"] for row in rows if not row["gated"]]
    if left:
        # One line for all: reasons are read by people, and shown cut short.
        why = f"not judged, as neither arm ever solves them: {', '.join(left)}"
        found.append(Check("ungated_tasks", None, len(left), None, Verdict.NOTE, why))
    return found


def _margin(margin: int) -> Check:
    verdict = Verdict.IMPROVED if margin >= MARGIN else Verdict.SHORT
    return Check("resolved_margin", None, margin, MARGIN, verdict, f"{margin:+d} runs solved over all tasks")


def _saved(middle: float | None, policy: Policy) -> Check:
    least = policy["min_improvement_pct"]
    good = middle is not None and exact(middle) >= exact(least)
    told = "unknown" if middle is None else f"{middle:+g} %"
    why = f"median improvement of {policy['metric']} over gated tasks is {told}"
    return Check("median_improvement", None, middle, least, Verdict.IMPROVED if good else Verdict.SHORT, why)


def _of(side: Side) -> str:
    return f"{_solved(side)} of {side['valid_runs']}"


def _share(value: Fraction) -> float:
    return float(round(value, 6))


def _signed(value: Fraction) -> str:
    return f"{float(value):+g}"
