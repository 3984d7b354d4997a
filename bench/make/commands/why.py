"""`doit why [STEP…]`: which input changed, old digest and new. Runs and writes nothing. Without STEP: the default suites."""

from __future__ import annotations

from bench.effects import console
from bench.make.commands.base import StepCommand
from bench.make.decide import decide, short, shut_gate
from bench.make.step import Step


class Why(StepCommand):
    """Explains a step's state from its record, its inputs and the store."""

    name = "why"
    doc_purpose = "say which input of a step changed, old digest and new"
    doc_usage = "[STEP or PATTERN...]"
    doc_description = None
    cmd_options = ()

    def _execute(self) -> int:
        steps = self.steps()
        for name in self.selected(self.sel_tasks or []):
            if name in steps:
                self._step(steps[name])
            else:
                self._group(name)
        return 0

    def _group(self, name: str) -> None:
        """What is at the root of it: steps whose own inputs, record or code moved. What follows from them is `plan`'s."""
        behind = self.closure([name])
        moved = [(step, verdict) for step in behind if (verdict := decide(self.pipeline.workspace, step)).action != "reuse"]
        for step, verdict in moved:
            console.say(f"{step.id}: {verdict.action}: {console.visible(verdict.why)}")
        if not moved:
            console.say(f"{name}: up to date, and all that it needs ({console.counted(len(behind), 'step')})")

    def _step(self, step: Step) -> None:
        workspace = self.pipeline.workspace
        verdict = decide(workspace, step)
        action = "up to date" if verdict.action == "reuse" else verdict.action
        console.say(f"{step.id}: {action}: {console.visible(verdict.why)}")
        console.say(f"  key {verdict.key}")
        if verdict.action in ("measure", "build") and (shut := shut_gate(workspace, step)):
            console.say(f"  held back: {console.visible(shut)}")
        for role, record in verdict.inputs.items():
            console.say(f"  {role:12} {short(record.content)}  {record.state}  {step.needs[role]}")
        for role, path in step.files.items():
            console.say(f"  {role:12} {short(workspace.index.digest(path))}  {path}")
