"""Everything that the report's first page says, as plain values: the one view behind both index.html and report.md.

It arranges and compares what aggregate and health hold; it formats nothing and adds no number of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import comparison, contrasts, plots, savings
from bench.core.rows import where
from bench.core.suite import CALIBRATION, CANDIDATE
from bench.core.summary import DIAGNOSTIC, FREE, unpriced
from bench.core.suspicions import BROKEN, UNMEASURED, UNPROVEN

Mapped = Mapping[str, Any]


def build(params: Mapped, aggregate: Mapped, judged: Mapped, stems: Mapping[tuple[str, str, int], str]) -> dict[str, Any]:
    """The view, from params {suite, profile, arms: [{name, role, of}], model, effort, runs} and two record bodies.

    `stems` names those cells that have a page.
    """
    of = {arm["name"]: arm.get("of") for arm in params.get("arms", ())}
    arms = comparison.arms(aggregate, judged, of)
    table = comparison.table(aggregate, of)
    marks = _marks(aggregate["rows"], stems)
    for group in table:
        for task in group["tasks"]:
            for arm, cell in task["cells"].items():
                cell["marks"] = marks[task["task"], arm]
    roles = {arm["name"]: arm["role"] for arm in arms}
    order = [task["task"] for group in table for task in group["tasks"]]
    statistics = contrasts.build(aggregate, of)
    return {
        "suite": params["suite"],
        "profile": params.get("profile"),
        "model": params.get("model"),
        "effort": params.get("effort"),
        "runs": params.get("runs"),
        "planned": aggregate["planned"],
        "measured": aggregate["measured"],
        "complete": aggregate["complete"],
        "headlines": _headlines(arms, statistics),
        "statistics": statistics,
        "difference_plot": plots.differences(statistics["pairs"]) if statistics else None,
        "notices": notices(params, aggregate, judged, arms, len(aggregate["rows"]) - len(stems)),
        "arms": arms,
        "roles": roles,
        "table": table,
        "savings": _savings(aggregate, roles),
        "exclusions": comparison.exclusions(aggregate),
        "health": list(judged["lines"]),
        "alarms": [dict(alarm) for alarm in aggregate["alarms"]],
        "skipped": list(aggregate["skipped"]),
        "outcome_plot": plots.outcome(arms),
        "cost_plot": plots.costs(aggregate, order),
    }


def _marks(rows: Sequence[Mapped], stems: Mapping[tuple[str, str, int], str]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        mark = {
            "run": row["run"],
            "page": stems.get(where(row)),
            "verdict": plots.outcome_of(row),
        }
        mark |= {"error_kind": row.get("error_kind"), "alarms": len(row.get("alarms", ()))}
        found.setdefault((row["task"], row["arm"]), []).append(mark)
    return found


def _headlines(arms: Sequence[Mapped], statistics: Mapped | None) -> list[dict[str, Any]]:
    """One entry per candidate: both sides' counts and the differences, for a sentence, and what of them is shown."""
    named = {arm["name"]: arm for arm in arms}
    shown = {(pair["a"], pair["b"]): pair["short"] for pair in (statistics or {"pairs": ()})["pairs"]}
    return [
        # The time of a replay is the time of reading a recording.
        {"arm": arm, "against": named[arm["against"]], "timed": not (arm["replayed"] or named[arm["against"]]["replayed"])}
        | {"shown": shown.get((arm["name"], arm["against"]))}
        for arm in arms
        if arm["role"] == CANDIDATE and arm["against"] and arm["valid"] and named[arm["against"]]["valid"]
    ]


def notices(
    params: Mapped, aggregate: Mapped, judged: Mapped, arms: Sequence[Mapped], without_page: int = 0
) -> list[dict[str, str]]:
    """[{level: bad | warn | info, title, detail}]: what a reader must know before believing a number, worst first."""
    bad, warn, info = [], [], []
    if not aggregate["complete"]:
        bad.append(("Incomplete", f"{aggregate['measured']} of {aggregate['planned']} planned cells were measured"))
    for name in judged["fatal"]:
        bad.append(("Unusable arm", f"no attempt of {name} gave admissible evidence; cause undetermined"))
    for task in aggregate["tasks"]:
        if task["calibration"] == BROKEN:
            bad.append(
                ("Broken task", f"{task['task']}: {task['why']}; it cannot tell right from wrong and promotes nothing")
            )
    unproven = [task["task"] for task in aggregate["tasks"] if task["calibration"] in (UNMEASURED, UNPROVEN)]
    if unproven:
        warn.append(("Unproven tasks", f"no valid nop and gold pair shows that the oracle works: {', '.join(unproven)}"))
    warn += [(_title(entry["kind"]), entry["detail"]) for entry in aggregate["warnings"]]
    if aggregate["alarms"]:
        warn.append(("Alarms", f"{len(aggregate['alarms'])} raised, listed below"))
    if params.get("runs") == 1 and any(arm["role"] != CALIBRATION for arm in arms):
        warn.append(("Diagnostic only", DIAGNOSTIC))
    if free := unpriced(arms):
        warn.append(("Directional only", f"{', '.join(free)}: {FREE}"))
    replayed = [arm["name"] for arm in arms if arm["replayed"]]
    if replayed:
        said = "recorded traffic, $0 spent; costs are the recorded model's list price, times are those of the replay"
        info.append(("Replayed", f"{', '.join(replayed)}: {said}"))
    if aggregate["skipped"]:
        info.append(("Skipped as expensive", f"{', '.join(aggregate['skipped'])} (expensive=1 runs them)"))
    if without_page:
        info.append(("Pages", f"{without_page} cells have no page of their own here; results.jsonl has all rows"))
    levels = (("bad", bad), ("warn", warn), ("info", info))
    return [{"level": level, "title": title, "detail": detail} for level, some in levels for title, detail in some]


def _title(kind: str) -> str:
    return kind.replace("-", " ").capitalize()


def _savings(aggregate: Mapped, roles: Mapping[str, str]) -> dict[str, Any] | None:
    baseline = savings.baseline_of(roles)
    if baseline is None:
        return None
    classes = savings.by_class(savings.rows(aggregate["groups"], baseline))
    for entry in classes:
        entry["lines"] = [savings.told(arm, baseline, verdict) for arm, verdict in entry["arms"].items()]
    return {"baseline": baseline, "classes": classes, "lines": savings.turning_points(classes, baseline)}
