"""A promotion's thresholds from the command line (`min_improvement_pct=10 policy=statistical`), within the file's limits.

They are bound into the decision like those of the suite file, and reach no session: nothing is paid for again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bench.core import nearest
from bench.core.gate_implementation import METRICS
from bench.core.gate_review import METRIC
from bench.core.names import shown
from bench.core.numbers import plain_number
from bench.core.suite import Suite
from bench.errors import UsageError

LIMITS: Mapping[str, tuple[float, float]] = {
    "min_runs": (1, 1000),
    "min_improvement_pct": (0, 100),
    "min_improvement": (0, 1),
    "max_task_regression_pct": (0, 10_000),
    "max_failed_task_regression_pct": (0, 10_000),
    "min_gated_task_ratio": (0, 1),
    "max_attempt_difference": (0, 1000),
}
"""Least and most, as in the suite's schema."""
WHOLE = frozenset({"min_runs", "max_attempt_difference"})
POLICIES = ("reference", "statistical")
_ALARM = re.compile(r"[0-9a-f]{12}")


def _number(name: str, suite: Suite, value: Any) -> Suite:
    least, most = LIMITS[name]
    try:
        given = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        given = math.nan
    if not least <= given <= most or (name in WHOLE and not given.is_integer()):
        kind = "a whole number" if name in WHOLE else "a number"
        raise UsageError(f"not {kind} from {least:g} to {most:g}: {shown(str(value))}", where=f"{name}=")
    return _set(suite, name, plain_number(given))


def _metric(suite: Suite, value: Any) -> Suite:
    known = (METRIC,) if suite.profile == "review" else METRICS
    if value not in known:
        raise UsageError(
            f"not a metric of this suite: {shown(str(value))}", where="metric=", remedy=f"one of {', '.join(known)}"
        )
    return _set(suite, "metric", value)


def _policy(suite: Suite, value: Any) -> Suite:
    if value not in POLICIES:
        raise UsageError(f"not a policy: {shown(str(value))}", where="policy=", remedy=f"one of {', '.join(POLICIES)}")
    return _set(suite, "policy", value)


def _acknowledge(suite: Suite, value: Any) -> Suite:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    given = [str(part).strip() for part in parts if str(part).strip()]
    for part in given:
        if not _ALARM.fullmatch(part):
            what = f"not the id of an alarm: {shown(part)}"
            raise UsageError(what, where="acknowledge=", remedy="12 hexadecimal digits, as the decision names it")
    return _set(suite, "acknowledge", list(dict.fromkeys([*suite.promotion.get("acknowledge", ()), *given])))


def _set(suite: Suite, name: str, value: Any) -> Suite:
    if name not in suite.promotion:
        what = f"the gate of the profile {suite.profile!r} has no such threshold"
        raise UsageError(what, where=f"{name}=", remedy=nearest.remedy(name, suite.promotion))
    return replace(suite, promotion=dict(suite.promotion) | {name: value})


VARIABLES: Mapping[str, Callable[[Suite, Any], Suite]] = {
    **{name: partial(_number, name) for name in LIMITS},
    "metric": _metric,
    "policy": _policy,
    "acknowledge": _acknowledge,
}
"""Variable → the suite with it in force. Raises UsageError."""
