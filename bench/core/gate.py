"""What every promotion gate is made of: checks with their numbers, and the one way in which checks become a decision.

Insufficient beats regression beats no improvement (spec 2.7, 2.8). A decision is a fold over the listed checks and nothing
else, so a reader who has the list has the reasons; the order of checks decides nothing. No clock, no file, no opinion.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PROMOTE = "promote"
KEEP = "keep_incumbent"
INSUFFICIENT = "insufficient_evidence"

Side = Mapping[str, Any]
"""One arm on one task: counts and medians, as `promotion_sides` makes them."""
Policy = Mapping[str, Any]


class Verdict(enum.StrEnum):
    """What a check says."""

    PASS = "pass"
    INSUFFICIENT = "insufficient"
    REGRESSION = "regression"
    IMPROVED = "improved"
    """One way to a promotion: enough of an improvement. One such check is needed, whatever others fall short."""
    SHORT = "short"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison. `task` is None for the whole set; `value` and `threshold` are plain JSON; `reason` is a sentence."""

    check: str
    task: str | None
    value: Any
    threshold: Any
    verdict: Verdict
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The check as promotion.json lists it."""
        said = {"check": self.check, "task": self.task, "value": self.value, "threshold": self.threshold}
        # A reason says what is wrong; beside a pass it would mislead.
        return said | {"verdict": str(self.verdict), "reason": None if self.verdict is Verdict.PASS else self.reason}


@dataclass(frozen=True, slots=True)
class Pair:
    """A task with both arms; None where an arm has no rows at all."""

    task: str
    cls: str
    incumbent: Side | None
    candidate: Side | None


@dataclass(frozen=True, slots=True)
class Judged:
    """What a gate found: its checks, one row per task for promotion.json, and fields of the decision beside them."""

    checks: tuple[Check, ...]
    tasks: tuple[Mapping[str, Any], ...]
    fields: Mapping[str, Any]


def decision(checks: Iterable[Check]) -> str:
    """Insufficient first, then any regression, then whether anything improved."""
    said = {check.verdict for check in checks}
    if Verdict.INSUFFICIENT in said:
        return INSUFFICIENT
    if Verdict.REGRESSION in said or Verdict.IMPROVED not in said:
        return KEEP
    return PROMOTE


def together(decisions: Sequence[str]) -> str:
    """Of one overlay on several arms: all must promote (failure mode 15); none at all is insufficient."""
    if not decisions or INSUFFICIENT in decisions:
        return INSUFFICIENT
    return PROMOTE if all(one == PROMOTE for one in decisions) else KEEP


DECISIVE = {
    PROMOTE: (Verdict.IMPROVED,),
    KEEP: (Verdict.REGRESSION, Verdict.SHORT),
    INSUFFICIENT: (Verdict.INSUFFICIENT,),
}


def reasons(checks: Sequence[Check]) -> list[str]:
    """The sentences of the checks that decided, in order, each once, and the notes after them."""
    found: list[str] = []
    for verdict in DECISIVE[decision(checks)]:
        found = found or [check.reason or check.check for check in checks if check.verdict == verdict]
    notes = [check.reason or check.check for check in checks if check.verdict is Verdict.NOTE]
    return list(dict.fromkeys([*(found or ["nothing improved"]), *notes]))


def measured(pair: Pair, policy: Policy) -> list[Check]:
    """What both gates ask of a task before they compare anything: enough valid runs, equally many, none excluded."""
    incumbent, candidate = pair.incumbent, pair.candidate
    if incumbent is None or candidate is None:
        missing = "incumbent" if incumbent is None else "candidate"
        return [Check("both_arms", pair.task, [incumbent is not None, candidate is not None], [True, True],
                      Verdict.INSUFFICIENT, f"{pair.task}: the {missing} has no run")]  # fmt: skip
    least = policy["min_runs"]
    valid = [incumbent["valid_runs"], candidate["valid_runs"]]
    lost = [incumbent["excluded_runs"], candidate["excluded_runs"]]
    return [
        _insufficient("valid_runs", pair.task, valid, least, min(valid) >= least, f"{_both(valid)} valid runs of {least}"),
        _insufficient("equal_runs", pair.task, valid, "equal", valid[0] == valid[1], f"{_both(valid)} valid runs differ"),
        _insufficient("excluded_runs", pair.task, lost, 0, not any(lost), f"{_both(lost)} runs are no evidence"),
    ]


def _insufficient(check: str, task: str, value: Any, threshold: Any, good: bool, why: str) -> Check:
    return Check(check, task, value, threshold, Verdict.PASS if good else Verdict.INSUFFICIENT, f"{task}: {why}")


def _both(values: Sequence[Any]) -> str:
    return f"{values[0]} (incumbent) and {values[1]} (candidate)"


def insufficient(pair: Pair, check: str, value: Any, why: str) -> Check:
    """A check of a task that something needed is missing from."""
    return Check(check, pair.task, value, "known", Verdict.INSUFFICIENT, f"{pair.task}: {why}")
