"""`policy: statistical`: an improvement counts only where its interval excludes zero. It can only take a promotion away.

Which measure an improvement is about is fixed here: solved runs for the margin, the metric for the median, weighted F1 for
reviews. With a diagnostic comparison (fewer than two valid runs on some task, or too few tasks) nothing is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.core.gate import Check, Policy, Verdict

STATISTICAL = "statistical"
RESOLVED = "resolved"


def measures(policy: Policy) -> list[str]:
    """What the two arms are compared by."""
    return list(dict.fromkeys([RESOLVED, policy["metric"]]))


def held(checks: Sequence[Check], statistics: Mapping[str, Any] | None, policy: Policy) -> list[Check]:
    """The checks with every improvement that is not shown turned into one that falls short, and what was looked at."""
    if policy.get("policy") != STATISTICAL:
        return list(checks)
    found: list[Check] = []
    for check in checks:
        if check.verdict is Verdict.IMPROVED:
            measure = RESOLVED if check.check == "resolved_margin" else policy["metric"]
            said = _said(statistics, measure)
            found.append(check if said.get("improves") is True else _short(check, measure, said))
        else:
            found.append(check)
    for measure in measures(policy):
        said = _said(statistics, measure)
        found.append(
            Check(f"interval_{measure}", None, said.get("interval"), "excludes 0", _verdict(said), _why(measure, said))
        )
    return found


def _said(statistics: Mapping[str, Any] | None, measure: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = ((statistics or {}).get("measures") or {}).get(measure) or {}
    return found


def _verdict(said: Mapping[str, Any]) -> Verdict:
    return Verdict.PASS if said.get("improves") is True else Verdict.SHORT


def _why(measure: str, said: Mapping[str, Any]) -> str:
    interval = said.get("interval")
    told = (
        "no interval can be given" if interval is None else f"its interval {interval[0]:g} to {interval[1]:g} includes zero"
    )
    if interval is not None and said.get("excludes_zero"):
        told = f"the test gives p = {said.get('p')}"
    return f"an improvement of {measure} is not shown: {told}"


def _short(check: Check, measure: str, said: Mapping[str, Any]) -> Check:
    return replace(check, verdict=Verdict.SHORT, reason=_why(measure, said))
