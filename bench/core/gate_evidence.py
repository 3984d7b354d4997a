"""Whether the evidence may decide anything, before any gate compares it: what no number of good figures can make up for.

Each rule here only ever takes a promotion away. `facts` says what was found about the whole sweep, and stands in
promotion.json as it is judged here; sides say what was found per task and arm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.core.gate import Check, Pair, Policy, Side, Verdict
from bench.core.health import UNKNOWN, UNUSABLE
from bench.core.suspicions import BROKEN, SEPARATES, UNMEASURED

COMPLETE = "complete"
ABORTED = "aborted"
CONDITIONS = ("template", "oracle", "assets", "runtime")
"""Inputs that both arms of a task must have shared, by their content."""
OVERLAID = ("graph", "settings")
"""Those that they must have shared as well where the change is an overlay: it is not credited with another temperature."""
OPTIONAL = frozenset({"oracle", "assets", "graph"})
"""Those that a task may do without; then no run of either arm has them."""

Facts = Mapping[str, Any]


def checks(pairs: Sequence[Pair], facts: Facts, policy: Policy) -> list[Check]:
    """Every rule, in a fixed order. `facts`: see `promotion_facts`."""
    sides = [side for pair in pairs for side in (pair.incumbent, pair.candidate) if side is not None]
    return [
        _selection(facts),
        _sweep(facts),
        *_calibration(pairs, facts),
        *_arms(facts),
        _one("model", (model for side in sides for model in side["models"])),
        _same("effort", (effort for side in sides for effort in side["efforts"])),
        *(check for pair in pairs for check in _runs(pair, policy)),
        *(check for pair in pairs for check in _conditions(pair, overlaid=facts["overlay"])),
        *_held(facts),
        _age(facts),
        *_alarms(facts),
    ]


def _refused(check: str, task: str | None, value: Any, threshold: Any, good: bool, why: str) -> Check:
    return Check(check, task, value, threshold, Verdict.PASS if good else Verdict.INSUFFICIENT, why)


def _selection(facts: Facts) -> Check:
    """What was left out could have shown that the rest proves nothing: a task is broken, an arm unusable, a pair worse."""
    left = facts["left_out"]
    why = f"the command line leaves out of the suite's file: {', '.join(left[:5])}" + (" …" if len(left) > 5 else "")
    return _refused("selection", None, left, [], not left, why)


def _sweep(facts: Facts) -> Check:
    status = facts["run_status"]
    why = f"the sweep is not complete: {facts['measured']} of {facts['planned']} cells were measured"
    return _refused("run_status", None, status, COMPLETE, status == COMPLETE, why)


def _calibration(pairs: Sequence[Pair], facts: Facts) -> list[Check]:
    found = []
    for pair in pairs:
        said = facts["calibration"].get(pair.task) or {}
        state = said.get("calibration")
        if state in (BROKEN, UNMEASURED):
            told = "the task is broken" if state == BROKEN else "its calibration gave no evidence"
            why = f"{pair.task}: {told}, {said.get('why')}"
            found.append(Check("calibration", pair.task, state, SEPARATES, Verdict.INSUFFICIENT, why))
        elif state != SEPARATES:
            why = f"{pair.task}: nothing proves that its oracle tells a solution from nothing"
            found.append(Check("calibration", pair.task, state, SEPARATES, Verdict.NOTE, why))
        else:
            found.append(Check("calibration", pair.task, state, SEPARATES, Verdict.PASS))
    return found


def _arms(facts: Facts) -> list[Check]:
    found = []
    for arm, state in sorted(facts["arms"].items()):
        good = state not in (UNUSABLE, UNKNOWN)
        found.append(_refused("arm_health", None, [arm, state], "usable", good, f"the arm {arm} is {state}"))
    return found


def _one(what: str, names: Iterable[str | None]) -> Check:
    """Readings 12: null and blank are both no name."""
    known = {name.strip() if isinstance(name, str) else "" for name in names}
    why = f"the {what} is not named" if "" in known else f"the {what} is not the same: {', '.join(sorted(known))}"
    return _refused(
        what, None, sorted(known), 1, "" not in known and len(known) == 1, why if known else f"no {what} is known"
    )


def _same(what: str, names: Iterable[str | None]) -> Check:
    known = sorted({name or "default" for name in names})
    return _refused(what, None, known, 1, len(known) < 2, f"the {what} is not the same: {', '.join(known)}")


def _runs(pair: Pair, policy: Policy) -> list[Check]:
    if pair.incumbent is None or pair.candidate is None:
        return []  # said by the gate itself
    sides: list[Side] = [pair.incumbent, pair.candidate]
    short = [side["planned"] - side["runs"] for side in sides]
    planned = [side["planned"] for side in sides]
    tries = [side["attempts"] for side in sides]
    most = policy["max_attempt_difference"]
    return [
        _refused("missing_runs", pair.task, short, 0, not any(short), f"{pair.task}: {sum(short)} planned runs are missing"),
        _refused("planned_runs", pair.task, planned, "equal", planned[0] == planned[1],
                 f"{pair.task}: {planned[0]} runs of the incumbent and {planned[1]} of the candidate were planned"),
        _refused("attempts", pair.task, tries, most, abs(tries[0] - tries[1]) <= most,
                 f"{pair.task}: {tries[0]} attempts of the incumbent and {tries[1]} of the candidate: "
                 "whoever tries more often looks better"),
    ]  # fmt: skip


def _conditions(pair: Pair, *, overlaid: bool) -> list[Check]:
    """Absence is no equality (failure mode 7): what a run does not name may have been anything."""
    if pair.incumbent is None or pair.candidate is None:
        return []
    sides = [side for side in (pair.incumbent, pair.candidate) if side["valid_runs"]]  # without any, the gate itself says so
    found = []
    for name in (*CONDITIONS, *(OVERLAID if overlaid else ())):
        contents = {content for side in sides for content in side["inputs"].get(name, (None,))}
        told = f"{pair.task}: not all runs had the same {name}"
        why = f"{told}, or some do not say which" if None in contents else told
        good = len(contents) < 2 and (name in OPTIONAL or None not in contents)
        found.append(_refused(f"same_{name}", pair.task, len(contents), 1, good, why))
    return found


def _held(facts: Facts) -> list[Check]:
    """Every valid row is backed by records that are what it says, and is of a cell that came to its end."""
    return [
        _none("graded", facts["ungraded"], "runs were not graded to the end"),
        _none("evidence", facts["lost"], "evidence was revoked or is not what was sealed"),
    ]


def _none(check: str, names: Sequence[str], what: str) -> Check:
    named = sorted(names)
    why = f"{what}: {', '.join(named[:5])}" + (" …" if len(named) > 5 else "")
    return _refused(check, None, len(named), 0, not named, why)


def _age(facts: Facts) -> Check:
    """Without a clock: evidence that was too old when the newest of it was measured was never valid together."""
    newest, expires = facts["newest_measured_at"], facts["evidence_expires_at"]
    good = newest is not None and expires is not None and newest < expires
    days = facts["max_age_days"]
    why = "no measurement is known" if newest is None else f"the oldest run is more than {days} days older than the newest"
    return _refused("age", None, [facts["oldest_measured_at"], newest], days, good, why)


def _alarms(facts: Facts) -> list[Check]:
    found = []
    for alarm in facts["alarms"]:
        where = f"{alarm['task']} ({', '.join(alarm['arms'])})"
        why = f"alarm {alarm['id']}: {alarm['kind']} on {where}: {alarm['detail']}"
        verdict = Verdict.PASS if alarm["acknowledged"] else Verdict.INSUFFICIENT
        found.append(Check("alarm", alarm["task"], alarm["id"], "acknowledged", verdict, why))
    return found or [Check("alarm", None, 0, 0, Verdict.PASS)]
