"""What a candidate is decided on: thresholds and tasks of each of its arms, and what a command line leaves out of them.

The suite's file says it (spec 5.1). A command line may choose less, to try something; what it leaves out is named in the
decision, which is then insufficient, and nothing is applied by words that ask for less than the file does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from bench.core.corpus import IMPLEMENTATION_GATE, REVIEW_GATE
from bench.core.gate_statistics import STATISTICAL
from bench.core.suite import Arm, Suite, Task

WATCHED = ("calibration", "comparator")
"""Roles of arms that every decision of a suite looks at, beside its own pairs."""
LEAST, MOST = "min_", "max_"
"""Prefixes of thresholds: a lower least, or a higher most, asks for less."""


def thresholds(suite: Suite, arm: Arm) -> dict[str, Any]:
    """The thresholds of an arm's gate: reviews by that of reviews, work by that of work, whatever the suite's profile.

    Its `promotion:` sets those of both; only the metric is that of its profile, and the other gate's is its default.
    """
    own = REVIEW_GATE if arm.reviews else IMPLEMENTATION_GATE
    foreign = {"acknowledge"} if arm.reviews == (suite.profile == "review") else {"acknowledge", "metric"}
    said = {name: value for name, value in suite.promotion.items() if name in own and name not in foreign}
    return {name: value for name, value in (dict(own) | said).items() if name != "acknowledge"}


def tasks(whole: Suite, arms: Collection[Arm], *, expensive: bool) -> list[Task]:
    """The tasks of a suite that any of the arms runs, in the suite's order."""
    return [task for task in whole.tasks if (expensive or not task.expensive) and any(arm.runs(task.id) for arm in arms)]


def left_out(whole: Suite, chosen: Suite, pairs: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """{variable: what it leaves out} of all that a decision on these pairs (incumbent, candidate) rests on in `whole`."""
    arms, paired = {arm.name for arm in chosen.arms}, {name for pair in pairs for name in pair}
    asked = [arm for arm in whole.arms if arm.name in paired]
    missing = [f"arm {a.name}" for a in whole.arms if a.name not in arms and (a.role in WATCHED or a.name in paired)]
    wanted, ids = tasks(whole, asked, expensive=chosen.expensive), {task.id for task in chosen.tasks}
    fewer = [f"{whole.runs - chosen.runs} of {whole.runs} runs"] if chosen.runs < whole.runs else []
    found = {"arms": missing, "tasks": [f"task {task.id}" for task in wanted if task.id not in ids], "runs": fewer}
    return {name: listed for name, listed in found.items() if listed}


def loosened(whole: Suite, chosen: Suite) -> list[str]:
    """Thresholds by which `chosen` asks for less than the file, or for something else."""
    return [name for name, written in whole.promotion.items() if _less(name, written, chosen.promotion[name])]


def _less(name: str, written: Any, given: Any) -> bool:
    if name.startswith(LEAST):
        return bool(given < written)
    if name.startswith(MOST):
        return bool(given > written)
    if name == "policy":
        return bool(written == STATISTICAL != given)
    return bool(name == "metric" and given != written)
