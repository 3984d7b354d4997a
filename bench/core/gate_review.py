"""The gate of review arms (spec 2.7): a candidate must be right every time, lose nothing on any task, and gain on one.

Quality alone is compared; cost is not. A clean task is one whose rows say clean_control, whatever its class says. Medians
are those of all valid runs, runs in which the skill was never loaded included.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bench.core import gate
from bench.core.gate import Check, Judged, Pair, Policy, Side, Verdict
from bench.core.numbers import exact, number

METRIC = "review_weighted_f1"
TOLERANCE = Fraction(1, 10**9)
"""Far below the sixth decimal to which scores are rounded."""
RULE = (
    "insufficient unless every task has the same number of valid runs of both arms, at least min_runs, none excluded, and "
    "all figures; keep if any verdict of the candidate is wrong, its worst blocker recall falls, a clean control gets more "
    "false positives or no longer passes, or weighted F1 falls on any task; promote if weighted F1 rises by min_improvement "
    "on one"
)
CLEAN = ("review_false_positives", "review_clean_pass")
DEFECT = (METRIC, "review_false_positives")


def judge(pairs: Sequence[Pair], policy: Policy) -> Judged:
    """Checks per task, and one for the set. Pairs come in the order of the selected tasks."""
    checks: list[Check] = []
    rows = []
    improved = []
    for pair in pairs:
        mine, gain = _task(pair, policy)
        checks += mine
        improved.append(gain)
        rows.append(_row(pair, gain))
    if not pairs:
        checks.append(Check("paired_tasks", None, 0, 1, Verdict.INSUFFICIENT, "no task has both arms"))
    elif not any(check.verdict is Verdict.IMPROVED for check in checks):
        known = [gain for gain in improved if gain is not None]
        best = float(max(known)) if known else None
        why = f"no defect task improved by {policy['min_improvement']} of weighted F1"
        checks.append(Check("any_improvement", None, best, policy["min_improvement"], Verdict.SHORT, why))
    return Judged(tuple(checks), tuple(rows), {"ungated_tasks": []})


def _row(pair: Pair, gain: Fraction | None) -> dict[str, Any]:
    said = {"task": pair.task, "class": pair.cls, "gated": True, "improvement": None if gain is None else float(gain)}
    return said | {"incumbent": pair.incumbent, "candidate": pair.candidate}


def _task(pair: Pair, policy: Policy) -> tuple[list[Check], Fraction | None]:
    checks = gate.measured(pair, policy)
    incumbent, candidate = pair.incumbent, pair.candidate
    if incumbent is None or candidate is None:
        return checks, None
    flags = [incumbent.get("review_clean_control"), candidate.get("review_clean_control")]
    if not isinstance(flags[0], bool) or flags[0] != flags[1]:
        return [
            *checks,
            gate.insufficient(pair, "clean_control", flags, "the arms do not agree on whether it is clean"),
        ], None
    missing = _missing(pair, incumbent, candidate, clean=flags[0])
    if missing:
        return [*checks, *missing], None
    checks += [_verdict(pair, candidate), _blockers(pair, incumbent, candidate)]
    if flags[0]:
        return [*checks, *_clean(pair, incumbent, candidate)], None
    gain = exact(candidate[METRIC]) - exact(incumbent[METRIC])
    return [*checks, _f1(pair, incumbent, candidate), _gain(pair, gain, policy)], gain


def _missing(pair: Pair, incumbent: Side, candidate: Side, *, clean: bool) -> list[Check]:
    found = []
    for name in CLEAN if clean else DEFECT:
        values = [incumbent.get(name), candidate.get(name)]
        known = all(isinstance(v, bool) if name == "review_clean_pass" else number(v) is not None for v in values)
        if not known:
            found.append(gate.insufficient(pair, name, values, f"{name} is not known of both arms"))
    said = candidate.get("review_verdict_correct")
    if not isinstance(said, bool):
        found.append(gate.insufficient(pair, "verdict_evidence", said, "the candidate's verdicts are not all known"))
    recalls = [incumbent.get("review_blocker_recall"), candidate.get("review_blocker_recall")]
    if (recalls[0] is None) != (recalls[1] is None):
        found.append(gate.insufficient(pair, "blocker_recall", recalls, "blocker recall is known of one arm only"))
    return found


def _worse(pair: Pair, check: str, values: Any, threshold: Any, bad: bool, why: str) -> Check:
    return Check(check, pair.task, values, threshold, Verdict.REGRESSION if bad else Verdict.PASS, f"{pair.task}: {why}")


def _verdict(pair: Pair, candidate: Side) -> Check:
    right = candidate["review_verdict_correct"]
    return _worse(
        pair, "verdict_correct", right, True, right is not True, "the candidate's verdict was wrong in a valid run"
    )


def _blockers(pair: Pair, incumbent: Side, candidate: Side) -> Check:
    before, now = incumbent.get("review_blocker_recall"), candidate.get("review_blocker_recall")
    bad = before is not None and now is not None and exact(now) < exact(before)
    return _worse(pair, "blocker_recall", now, before, bad, f"worst blocker recall fell from {before} to {now}")


def _clean(pair: Pair, incumbent: Side, candidate: Side) -> list[Check]:
    before, now = incumbent["review_false_positives"], candidate["review_false_positives"]
    passed = [incumbent["review_clean_pass"], candidate["review_clean_pass"]]
    return [
        _worse(pair, "false_positives", now, before, exact(now) > exact(before), f"{before} → {now} false positives"),
        _worse(pair, "clean_pass", passed[1], passed[0], passed[0] and not passed[1], "the clean control no longer passes"),
    ]


def _f1(pair: Pair, incumbent: Side, candidate: Side) -> Check:
    before, now = incumbent[METRIC], candidate[METRIC]
    bad = exact(now) + TOLERANCE < exact(before)
    return _worse(pair, "weighted_f1", now, before, bad, f"weighted F1 fell from {before} to {now}")


def _gain(pair: Pair, gain: Fraction, policy: Policy) -> Check:
    least = exact(policy["min_improvement"])
    verdict = Verdict.IMPROVED if gain + TOLERANCE >= least else Verdict.SHORT
    why = f"{pair.task}: weighted F1 changed by {float(gain):+.6g}"
    return Check("improvement", pair.task, float(gain), policy["min_improvement"], verdict, why)
