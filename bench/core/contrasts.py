"""Which arms of a suite are compared with which, and what their statistics say, as lines and table cells for the report.

Every competing arm stands against its reference (a candidate's incumbent) and against the baseline, where they have a task
in common. Broken tasks are left out and named: what cannot tell right from wrong shows nothing of any arm. Nothing is
decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import savings, stats
from bench.core.comparison import reference_of
from bench.core.stats import exact, phrases, words
from bench.core.suite import CALIBRATION, CANDIDATE, COMPARATOR
from bench.core.suspicions import BROKEN

Mapped = Mapping[str, Any]


def build(aggregate: Mapped, of: Mapping[str, str | None]) -> dict[str, Any] | None:
    """{notes, pairs: [{a, b, lines, short, rows, found}], arms: [{name, …}], left_out, tests} or None.

    `found` is the whole of `stats.compare`; `short` one sentence on what is resolved; `rows` table cells as text.
    """
    roles = {name: aggregate["arms"][name]["role"] for name in aggregate["arm_order"]}
    broken = [task["task"] for task in aggregate["tasks"] if task["calibration"] == BROKEN]
    rows: dict[str, list[Mapped]] = {name: [] for name in roles}
    for row in aggregate["rows"]:
        if row["task"] not in broken:
            rows[row["arm"]].append(row)
    asked = {name: {row["task"] for row in mine} for name, mine in rows.items()}
    # Arms that are for different tasks (a review beside a change) are no comparison that lacks evidence: they are none.
    found = {(a, b): stats.compare(rows[a], rows[b]) for a, b in _pairs(roles, of) if asked[a] & asked[b]}
    if not found:
        return None
    adjusted = exact.holm({pair: each["measures"]["resolved"]["p"] for pair, each in found.items()})
    every = [each["words"] for each in found.values()]
    # What holds for all pairs alike is said once.
    notes = [line for line in (words.DIAGNOSTIC, words.REPLAYED) if all(line in lines for lines in every)]
    sides = {each[side]["arm"]: each[side] for each in found.values() for side in ("a", "b")}
    return {
        "notes": notes,
        "pairs": [_pair(pair, each, adjusted[pair], notes) for pair, each in found.items()],
        "arms": [_arm(sides[name], roles[name]) for name in roles if name in sides],
        "left_out": broken,
        "tests": len(found),
    }


def brief(pair: Mapped) -> dict[str, Any]:
    """A pair's comparison for the report's own record, which is read often: without what it says of each single task."""
    found = pair["found"]
    measures = {
        name: {key: value for key, value in measure.items() if key != "per_task"}
        for name, measure in found["measures"].items()
    }
    return {**found, "measures": measures}


def _pairs(roles: Mapping[str, str], of: Mapping[str, str | None]) -> list[tuple[str, str]]:
    """Candidates against their incumbents first, then everything else in the suite's order."""
    baseline = savings.baseline_of(roles)
    competing = [name for name, role in roles.items() if role != CALIBRATION]
    found = [(name, reference_of(name, roles, of)) for name in competing]
    # A comparator is no rival of the incumbent's that anyone asked about, but the baseline is what every arm is measured by.
    wanted = [pair for pair in found if roles[pair[0]] != COMPARATOR] + [(name, baseline) for name in competing]
    ranked = sorted(wanted, key=lambda pair: roles[pair[0]] != CANDIDATE or pair[1] == baseline)
    return list(dict.fromkeys((a, b) for a, b in ranked if b is not None and a != b))


def _pair(pair: tuple[str, str], found: Mapped, adjusted: float | None, notes: Sequence[str]) -> dict[str, Any]:
    return {
        "a": pair[0],
        "b": pair[1],
        "lines": [line for line in found["words"] if line not in notes],
        "short": words.short(found),
        "rows": [
            _cells(name, measure, adjusted if name == "resolved" else None) for name, measure in found["measures"].items()
        ],
        "found": found,
    }


def _cells(name: str, measure: Mapped, adjusted: float | None) -> dict[str, str]:
    """One row of a pair's table, everything as text; a dash where there is nothing to say."""
    unit = measure["unit"]
    none = phrases.NONE
    gain, plan = measure["improvement"], measure["more"]
    p = none if measure["p"] is None else _bare(measure["p"])
    return {
        "measure": phrases.label(name),
        "a": phrases.level(measure["a"], name),
        "b": phrases.level(measure["b"], name),
        "gain": none if gain is None else phrases.gain(gain, unit),
        "interval": phrases.span(measure["interval"], unit) if measure["interval"] else none,
        "p": p + (f" ({_bare(adjusted)} adjusted)" if adjusted is not None and p != none else ""),
        "tasks": str(measure["tasks"]),
        "smallest": none if measure["smallest"] is None else phrases.amount(measure["smallest"], unit),
        "more": none if plan is None else phrases.plan(plan),
        "verdict": "better" if measure["improves"] else "worse" if measure["worsens"] else "even",
        "test": measure["test"],
    }


def _bare(p: float) -> str:
    return phrases.chance(p).removeprefix("p ").removeprefix("= ")


def _arm(side: Mapped, role: str) -> dict[str, Any]:
    """One arm's own figures: attempts and exclusions, pass@k and pass^k at one run and at the most, flips."""
    passes = side["pass"]
    last = passes[-1] if passes else None
    return {
        "name": side["arm"],
        "role": role,
        "counts": {name: side[name] for name in ("planned", "attempts", "valid", "excluded", "not_run")},
        "once": _share(passes[0]["any"], passes[0]["any_interval"]) if passes else phrases.NONE,
        "k": last["k"] if last else None,
        "any": _share(last["any"], last["any_interval"]) if last else phrases.NONE,
        "all": _share(last["all"], last["all_interval"]) if last else phrases.NONE,
        "flips": _share(side["flip_rate"], side["flip_interval"]),
    }


def _share(value: float | None, interval: Sequence[float] | None) -> str:
    if value is None or interval is None:
        return phrases.NONE
    return f"{100 * value:.0f} % ({100 * interval[0]:.0f}–{100 * interval[1]:.0f})"
