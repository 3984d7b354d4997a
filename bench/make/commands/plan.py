"""`doit plan [STEP…]`: what would be built, reused, restored or measured, at what cost, and why. Runs and writes nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from statistics import median
from typing import Any

import bench.layout as layout
from bench.core import prices
from bench.core.records import Record
from bench.effects import console
from bench.make.admission import kin
from bench.make.commands.base import StepCommand, option
from bench.make.costs import bought
from bench.make.decide import FREE_OF_INPUT_STATE, decide, shut_gate
from bench.make.glance import unmoved
from bench.make.step import Step
from bench.make.workspace import Workspace

CERTAIN = frozenset({"current", "reuse", "restore"})
"""What comes out of these is known already."""


class Plan(StepCommand):
    """Walks the selected steps in order; what hangs on an input that is itself to be made is marked so."""

    name = "plan"
    doc_purpose = "what would run, what it would cost, and why; runs nothing"
    doc_usage = "[STEP or PATTERN...]"
    doc_description = None
    cmd_options = (
        option("json", bool, False, "one JSON document instead of lines"),
        option("all", bool, False, "show steps that are up to date too"),
    )

    def _execute(self, json: bool, all: bool) -> int:
        rows = self._rows(self.closure(self.selected(self.sel_tasks or [])))
        counts = Counter(row["action"] for row in rows)
        costs = [row["usd"] for row in rows if row["action"] == "measure"]
        known = [cost for cost in costs if cost is not None]
        total = {"counts": dict(counts), "usd": sum(known), "unknown_cost": len(costs) - len(known)}
        if json:
            self._print_json({"steps": rows, "total": total, "unpriced": self._unpriced(rows)})
            return 0
        for row in rows:
            if all or row["action"] != "current":
                cost = f"  {_dollars(row['usd'])}" if row["action"] == "measure" and row["usd"] != 0 else ""
                console.say(f"{row['action']:8} {row['step']}{cost}  {console.visible(row['why'])}")
        console.say(", ".join(f"{n} {action}" for action, n in sorted(counts.items())) or "nothing to plan")
        more = f" and {total['unknown_cost']} sessions of unknown cost" if total["unknown_cost"] else ""
        console.say(f"expected cost: ${total['usd']:.2f}{more}")
        for model in self._unpriced(rows):
            where = f"{layout.CORPUS}/{prices.FILE}"
            console.say(f"note: {console.visible(model)} has no row in {where}: its costs will rank and promote nothing")
        return 0

    def _rows(self, steps: list[Step]) -> list[dict[str, Any]]:
        workspace = self.pipeline.workspace
        action_of: dict[str, str] = {}
        coming: dict[str, Record] = {}
        contents: dict[str, str] = {}
        known = costs(workspace)
        rows = []
        for step in steps:
            held = [path for path in step.needs.values() if action_of.get(path) == "hold"]
            moved = [path for path in step.needs.values() if action_of.get(path, "current") not in CERTAIN]
            if held and step.kind not in FREE_OF_INPUT_STATE:
                action, why = "hold", f"{layout.step_id(held[0])} is held back"
            elif moved:
                action, why = ("measure" if step.measures else "build"), f"after {layout.step_id(moved[0])}"
            elif workspace.stands(step) and unmoved(workspace, step, contents):
                action, why = "current", "up to date"
            else:
                verdict = decide(workspace, step, coming)
                action, why = verdict.action, verdict.why
                if verdict.record is not None and action in CERTAIN:
                    coming[step.target], contents[step.target] = verdict.record, verdict.record.content
            shut = [path for path in step.gates.values() if action_of.get(path, "current") in CERTAIN]
            if action in ("measure", "build") and shut and (held_by := shut_gate(workspace, step)):
                action, why = "hold", held_by
            action_of[step.target] = action
            usd = known.get(_kin(step, step.params)) if step.paid else 0.0
            rows.append({"step": step.id, "action": action, "why": why, "usd": usd})
        return rows

    def _unpriced(self, rows: list[dict[str, Any]]) -> list[str]:
        """Models of the sessions to be paid for whose cells will have no price."""
        steps = {step.id: step for step in self.pipeline.workspace.steps.values()}
        due = (steps[row["step"]] for row in rows if row["action"] == "measure")
        models = {str(step.params["model"]) for step in due if step.paid and step.params.get("model")}
        return sorted(model for model in models if prices.row(self.pipeline.prices, model) is None)

    @staticmethod
    def _print_json(document: dict[str, Any]) -> None:
        console.say(json.dumps(document, indent=1, sort_keys=True))


def costs(workspace: Workspace) -> dict[tuple[str, ...], float]:
    """Median dollars of the finished sessions on disk, by task and by arm (another model costs something else)."""
    found: dict[tuple[str, ...], list[float]] = {}
    for step, record, dollars in bought(workspace, workspace.steps.values()):
        for family in {_kin(step, record.params), kin(step.name, record.params)}:
            found.setdefault(family, []).append(dollars)
    return {name: median(values) for name, values in found.items()}


def _kin(step: Step, params: Mapping[str, Any]) -> tuple[str, ...]:
    """What a session costs goes by its task, a canary's cost by its arm."""
    if step.kind != "session":
        return kin(step.name, params)
    return step.name.rsplit("/", 2)[0], str(params.get("model")), str(params.get("effort"))


def _dollars(value: float | None) -> str:
    return "cost unknown" if value is None else f"${value:.2f}"
