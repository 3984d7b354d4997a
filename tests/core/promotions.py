"""Made evidence for gates: compact rows of two arms, and what follows from them, by the code that the step uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import aggregate, corpus, health, promotion, promotion_facts, promotion_sides
from bench.core.promotion_sides import Measured
from bench.core.rows import Where, where

ARMS = ("incumbent", "candidate")
STAMP = "2026-11-29T10:00:00Z"
INPUTS = {name: f"b3:{name}" for name in ("template", "oracle", "runtime", "settings")}
IMPLEMENTATION = dict(corpus.IMPLEMENTATION_GATE)
REVIEW = dict(corpus.REVIEW_GATE)

Row = dict[str, Any]


def run(task: str, arm: str, number: int, **facts: Any) -> Row:
    """One valid compact row; `resolved` defaults to true, the cost to one dollar."""
    name = f"{task}/{arm}/{number}"
    usual = {"state": "final", "resolved": True, "ok": True, "cost_usd": 1.0, "model": "m-1", "backing": "overlay"}
    where = {"task": task, "class": "bug", "arm": arm, "role": arm, "run": number}
    return where | usual | {"cell": [f"ck-{name}", f"cc-{name}"], "session": [f"sk-{name}", f"sc-{name}"]} | facts


def reviewed(task: str, arm: str, number: int, f1: float | None = 0.5, **facts: Any) -> Row:
    """One valid review of a defect task, or of a clean one where `f1` is None."""
    clean = f1 is None
    said = {
        "review_evidence_valid": True,
        "review_true_positives": 0 if clean else 1,
        "review_false_positives": 0,
        "review_weighted_f1": f1,
        "review_blocker_recall": None if clean else 1.0,
        "review_verdict_correct": True,
        "review_clean_control": clean,
        "review_clean_pass": clean,
    }
    return run(task, arm, number, **({k: v for k, v in said.items() if v is not None} | facts))


def known(**more: Any) -> Measured:
    """What the records of a run add to its row: all that they should."""
    return Measured(**{"whole": True, "measured_at": STAMP, "sandbox": "bwrap", "inputs": INPUTS} | more)


def arms(task: str, incumbent: Sequence[Mapping[str, Any]], candidate: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Rows of both arms on a task: one per mapping of facts."""
    both = zip(ARMS, (incumbent, candidate), strict=True)
    return [run(task, arm, number, **facts) for arm, given in both for number, facts in enumerate(given)]


def calibrated(tasks: Sequence[str]) -> list[Row]:
    """nop and gold of each task, as they should be."""
    nop = {"resolved": False, "oracle_passed": False, "role": "calibration", "cost_usd": 0.0}
    gold = {"resolved": True, "oracle_passed": True, "role": "calibration", "cost_usd": 0.0}
    return [run(task, arm, 0, **facts) for task in tasks for arm, facts in (("nop", nop), ("gold", gold))]


def body(rows: Sequence[Row]) -> dict[str, Any]:
    """The suite's aggregate of these rows."""
    parts = []
    for task in dict.fromkeys(row["task"] for row in rows):
        mine = [row for row in rows if row["task"] == task]
        parts.append(aggregate.of_task({"task": task, "class": "bug", "engines": {}}, mine))
    return aggregate.merged(parts, [])


def params(rows: Sequence[Row], profile: str, **more: Any) -> dict[str, Any]:
    """The step's parameters; thresholds as a suite's defaults unless given."""
    gate = (REVIEW if profile == "review" else IMPLEMENTATION) | more.pop("thresholds", {})
    pairs = more.setdefault("pairs", [list(ARMS)])
    candidates = [candidate for _, candidate in pairs]
    bound = {name: value for name, value in gate.items() if name != "acknowledge"}
    return {
        "suite": "s",
        "profile": profile,
        "candidate": "candidate",
        "comparators": [],
        "tasks": [binding(task, candidates) for task in dict.fromkeys(row["task"] for row in rows)],
        "thresholds": more.pop("by_arm", None) or dict.fromkeys(candidates, bound),
        "left_out": [],
        "acknowledge": [],
        "max_age_days": 90,
        "overlay": "candidates/c",
        "homes": {},
        "mirrors": [],
    } | more


def binding(task: str, candidates: Sequence[str]) -> Row:
    """A selected task, as the suite says it."""
    texts = dict.fromkeys(("prompt_digest", "verify_digest"), "0" * 64) | {"setup_digest": None}
    said = {"id": task, "class": "bug", "repo_identity": "r", "ref": None, "expensive": False, **texts}
    return said | {"sandbox_copy": [], "sandbox_dependencies": [], "candidate_arms": list(candidates)}


SEALED = dict.fromkeys(
    (
        "oracle_digest",
        "oracle_command_digest",
        "oracle_manifest_digest",
        "resolved_sha",
        "sandbox_dependency_content_digest",
        "sandbox_dependency_manifest_digest",
    )
)
"""What records say of a task, where there are none."""


def document(
    rows: Sequence[Row],
    profile: str = "implementation",
    *,
    measured: Mapping[Where, Measured] | None = None,
    statistics: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """promotion.json of these rows, with calibration that holds for every task that has none of its own."""
    have = {row["task"] for row in rows if row["role"] == "calibration"}
    rows = [*rows, *calibrated([task for task in dict.fromkeys(row["task"] for row in rows) if task not in have])]
    given, whole = params(rows, profile, **more), body(rows)
    found = {where(row): known() for row in rows} | dict(measured or {})
    facts = promotion_facts.facts(whole, health.of_aggregate(whole), found, given)
    pairs = {}
    for incumbent, candidate in given["pairs"]:
        tasks = [(task["id"], task["class"]) for task in given["tasks"] if candidate in task["candidate_arms"]]
        pairs[candidate] = promotion_sides.pairs(whole, found, tasks, (incumbent, candidate))
    bound = {
        "selected_tasks": [task | SEALED | {"oracle_files": []} for task in given["tasks"]],
        "ce_plugin": None,
        "candidate_overlay_digest": None,
        "target_base_digests": {},
        "inputs": {},
    }
    return promotion.build(given, facts, pairs, {pair[1]: statistics for pair in given["pairs"]}, bound)


def decided(rows: Sequence[Row], profile: str = "implementation", **more: Any) -> str:
    """The decision alone."""
    return str(document(rows, profile, **more)["decision"])


def failing(found: Mapping[str, Any], verdict: str) -> set[str]:
    """Names of the checks with a verdict."""
    return {check["check"] for one in found["decisions"] for check in one["checks"] if check["verdict"] == verdict}
