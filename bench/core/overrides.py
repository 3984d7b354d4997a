"""Command-line variables (`model= runs= arms= …`) laid over a suite: the same limits as in the file, as UsageErrors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bench.core import arm_rules, model_id, model_routes, nearest, overrides_gate, overrides_sandbox, semver
from bench.core.names import shown
from bench.core.numbers import plain_number
from bench.core.suite import EFFORTS, PAID_ENGINES, Suite
from bench.errors import CorpusError, UsageError

NOTHING = ("", "none", "null")
"""How a command line spells null."""
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
MAX_RUNS = 1000
MAX_WORKERS = 64
MAX_BUDGET_USD = 1_000_000.0


def override(suite: Suite, variables: Mapping[str, Any]) -> Suite:
    """The suite with these variables in force; texts as typed, or values of the right type; None leaves the suite's.

    `arms` and `tasks` are comma-separated, or sequences. Raises UsageError naming the variable.
    """
    for name, value in variables.items():
        if name not in VARIABLES and name not in PLUGIN:
            raise UsageError("unknown variable", where=f"{name}=", remedy=nearest.remedy(name, NAMES))
        if value is not None and name in VARIABLES:
            suite = VARIABLES[name](suite, value)
    suite = _plugin(suite, *(variables.get(name) for name in PLUGIN))
    overrides_sandbox.check(suite)
    return suite


def _plugin(suite: Suite, folder: Any, version: Any) -> Suite:
    """The plugin of every arm that takes one: both variables or neither. A relative directory is one of the workspace."""
    if folder is None and version is None:
        return suite
    if folder is None or version is None:
        given, missing = PLUGIN if version is None else reversed(PLUGIN)
        raise UsageError(f"needs {missing}= beside it", where=f"{given}=", remedy="give both, or neither")
    folder, version = str(folder), str(version)
    if fault := arm_rules.path_fault(folder):
        raise UsageError(f"{shown(folder)} {fault}", where="plugin_dir=", remedy="name a directory")
    if not semver.exact(version):
        raise UsageError(f"not an exact version: {shown(version)}", where="plugin_version=", remedy="such as 1.4.0")
    if not any(arm.takes_plugin for arm in suite.arms):
        raise UsageError(
            "no arm of the suite takes a plugin", where="plugin_dir=", remedy="name an arm that does with arms="
        )
    place = arm_rules.from_workspace(folder)
    arms = (replace(arm, plugin=place, plugin_version=version) if arm.takes_plugin else arm for arm in suite.arms)
    return replace(suite, arms=tuple(arms))


def _model(suite: Suite, value: Any) -> Suite:
    try:
        return replace(suite, model=model_id.check(str(value), "model="))
    except CorpusError as error:
        raise UsageError(error.what, where="model=", remedy=error.remedy) from None


def _provider(suite: Suite, value: Any) -> Suite:
    known = model_routes.PROVIDERS
    if value not in known:
        raise UsageError(f"unknown provider {shown(str(value))}", where="provider=", remedy=f"one of {', '.join(known)}")
    return _route(suite, "provider", value)


def _base_url(suite: Suite, value: Any) -> Suite:
    if isinstance(value, str) and value.lower() in NOTHING:
        return _route(suite, "base_url", None)
    if fault := model_routes.address_fault(str(value)):
        raise UsageError(f"{shown(str(value))} {fault}", where="base_url=", remedy="such as http://127.0.0.1:11434")
    return _route(suite, "base_url", str(value))


def _route(suite: Suite, name: str, value: Any) -> Suite:
    """Where the models of all agents' arms are served, whatever the arms say."""
    arms = (replace(a, params={**a.params, name: value}) if a.engine in PAID_ENGINES else a for a in suite.arms)
    return replace(suite, arms=tuple(arms))


def _effort(suite: Suite, value: Any) -> Suite:
    if value in NOTHING:
        return replace(suite, effort=None)
    if value not in EFFORTS:
        raise UsageError(f"not an effort: {shown(str(value))}", where="effort=", remedy=f"one of {', '.join(EFFORTS)}, none")
    return replace(suite, effort=value)


def _runs(suite: Suite, value: Any) -> Suite:
    return replace(suite, runs=_whole("runs", value, MAX_RUNS))


def _workers(suite: Suite, value: Any) -> Suite:
    return replace(suite, workers=_whole("workers", value, MAX_WORKERS))


def _expensive(suite: Suite, value: Any) -> Suite:
    text = str(value).lower()
    if text not in TRUE + FALSE:
        raise UsageError(f"neither 0 nor 1: {shown(text)}", where="expensive=", remedy="expensive=1 runs those tasks too")
    return replace(suite, expensive=text in TRUE)


def _budget(suite: Suite, value: Any) -> Suite:
    return replace(suite, limits=replace(suite.limits, budget_usd=_dollars("budget_usd", value)))


def _expected(suite: Suite, value: Any) -> Suite:
    return replace(suite, limits=replace(suite.limits, expected_usd=_dollars("expected_usd", value)))


def _dollars(name: str, value: Any) -> float | None:
    if isinstance(value, str) and value.lower() in NOTHING:
        return None
    try:
        dollars = float(value)
    except (TypeError, ValueError, OverflowError):
        dollars = math.nan
    if not 0 <= dollars <= MAX_BUDGET_USD:
        raise UsageError(f"not an amount: {shown(str(value))}", where=f"{name}=", remedy="dollars, such as 5.0, or none")
    return plain_number(dollars)


def _arms(suite: Suite, value: Any) -> Suite:
    wanted = _listed("arms", value, [arm.name for arm in suite.arms])
    return replace(suite, arms=tuple(arm for arm in suite.arms if arm.name in wanted))


def _tasks(suite: Suite, value: Any) -> Suite:
    wanted = _listed("tasks", value, [task.id for task in suite.tasks])
    return replace(suite, tasks=tuple(task for task in suite.tasks if task.id in wanted))


def _listed(name: str, value: Any, known: list[str]) -> list[str]:
    if isinstance(value, list | tuple | set | frozenset):
        wanted = [str(part) for part in value]
    else:
        # A name may hold a comma, so the whole text is tried first.
        text = str(value)
        wanted = [text] if text in known else [part.strip() for part in text.split(",") if part.strip()]
    if not wanted:
        raise UsageError("the selection is empty", where=f"{name}=", remedy=nearest.remedy("", known))
    for part in wanted:
        if part not in known:
            what = f"the suite has no {name.removesuffix('s')} {shown(part)}"
            raise UsageError(what, where=f"{name}=", remedy=nearest.remedy(part, known))
    return wanted


def _whole(name: str, value: Any, most: int) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
        raise UsageError(f"not a whole number from 1 to {most}: {shown(text)}", where=f"{name}=")
    return int(text)


VARIABLES: Mapping[str, Callable[[Suite, Any], Suite]] = {
    "model": _model,
    "provider": _provider,
    "base_url": _base_url,
    "effort": _effort,
    "runs": _runs,
    "workers": _workers,
    "expensive": _expensive,
    "budget_usd": _budget,
    "expected_usd": _expected,
    "arms": _arms,
    "tasks": _tasks,
    "sandbox": overrides_sandbox.sandbox,
    **overrides_gate.VARIABLES,
}
"""The variables that a suite knows; others (`record`) concern the run and not the suite."""
PLUGIN = ("plugin_dir", "plugin_version")
"""Two that go together."""
NAMES = (*VARIABLES, *PLUGIN)
