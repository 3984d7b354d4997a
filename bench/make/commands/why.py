"""`doit why STEP…`: which input changed, old digest and new. Runs and writes nothing."""

from __future__ import annotations

from bench.effects import console
from bench.errors import UsageError
from bench.make.commands.base import StepCommand
from bench.make.decide import decide, short, shut_gate


class Why(StepCommand):
    """Explains a step's state from its record, its inputs and the store."""

    name = "why"
    doc_purpose = "say which input of a step changed, old digest and new"
    doc_usage = "STEP..."
    doc_description = None
    cmd_options = ()

    def _execute(self, pos_args: list[str]) -> int:
        if not pos_args:
            raise UsageError("why which step?", remedy="doit why STEP")
        workspace = self.pipeline.workspace
        steps = self.steps()
        for name in self.selected(pos_args):
            if name not in steps:
                console.say(f"{name}: a group; name one of its steps")
                continue
            step = steps[name]
            verdict = decide(workspace, step)
            action = "up to date" if verdict.action == "reuse" else verdict.action
            console.say(f"{name}: {action}: {console.visible(verdict.why)}")
            console.say(f"  key {verdict.key}")
            if verdict.action in ("measure", "build") and (shut := shut_gate(workspace, step)):
                console.say(f"  held back: {console.visible(shut)}")
            for role, record in verdict.inputs.items():
                console.say(f"  {role:12} {short(record.content)}  {record.state}  {step.needs[role]}")
            for role, path in step.files.items():
                console.say(f"  {role:12} {short(workspace.index.digest(path))}  {path}")
        return 0
