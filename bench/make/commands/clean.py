"""`doit clean [STEP…]` revokes evidence; `doit restore STEP…` takes that back. Neither deletes anything."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from bench.core.spent import Spent
from bench.effects import console
from bench.errors import UsageError
from bench.make import conduct, revoke
from bench.make.commands.base import StepCommand, option
from bench.make.step import Step
from bench.make.workspace import Workspace


class Clean(StepCommand):
    """Without STEP: the default suites. What cost money asks first, with the dollars."""

    name = "clean"
    doc_purpose = "revoke evidence (doit restore takes that back)"
    doc_usage = "[STEP or PATTERN...]"
    doc_description = None
    cmd_options = (
        option("downstream", bool, False, "also what was made from it"),
        option("dry-run", bool, False, "only say what would be revoked", "n"),
        option("yes", bool, False, "do not ask about paid evidence", "y"),
    )

    def _execute(self, downstream: bool, dry_run: bool, yes: bool) -> int:
        workspace = self.pipeline.workspace
        chosen = self._chosen(downstream)
        present, paid = _standing(workspace, chosen)
        if dry_run:
            for step in present:
                console.say(f"would revoke {step.id}")
            console.say(f"{console.counted(len(present), 'record')}, paid {paid.text}")
            return 0
        if paid.any and not yes:
            _ask(len(present), paid)
        with conduct.writing(workspace):
            asked = paid
            present, paid = _standing(workspace, chosen)
            more = Spent(paid.known - asked.known, paid.exact or not asked.exact)
            if more.any and not yes:
                what = f"evidence that cost {more.text} more was measured since it was asked for"
                raise UsageError(what, remedy="nothing was revoked; say it again")
            done = [name for step in present for name in revoke.revoke(workspace, step)]
        for name in done:
            console.say(f"revoked {console.visible(name)}")
        console.say(f"{console.counted(len(done), 'record')} revoked, paid {paid.text}; `doit restore` brings them back")
        return 0

    def _chosen(self, downstream: bool) -> list[Step]:
        names = self.selected(self.sel_tasks or [])
        steps = self.steps()
        chosen = {name: steps[name] for name in self.spread(names)}
        if downstream:
            targets = {step.target for step in chosen.values()}
            for step in steps.values():
                if targets.intersection(step.needs.values()):
                    chosen[step.id] = step
                    targets.add(step.target)
        return list(chosen.values())


class Restore(StepCommand):
    """The evidence that was revoked last comes back, key entry and all."""

    name = "restore"
    doc_purpose = "bring back what clean revoked"
    doc_usage = "[STEP or PATTERN...]"
    doc_description = None
    cmd_options = ()

    def _execute(self) -> int:
        workspace = self.pipeline.workspace
        steps = self.steps()
        wanted = [steps[name] for name in self.spread(self.selected(self.sel_tasks or []))]
        with conduct.writing(workspace):
            if self.sel_default_tasks:
                # Nobody named them: what was made since is not to be displaced.
                wanted = [step for step in wanted if not (workspace.layout.root / step.target).exists()]
            done = [step for step in wanted if revoke.restore(workspace, step)]
        for step in done:
            console.say(f"restored {step.id}")
        console.say(f"{console.counted(len(done), 'record')} restored")
        return 0


def _standing(workspace: Workspace, steps: Iterable[Step]) -> tuple[list[Step], Spent]:
    """Those of which there is anything to revoke, and the dollars that it cost."""
    found = [(step, there) for step in steps if (there := revoke.standing(workspace, step)) is not None]
    return [step for step, _ in found], sum((there.spent for _, there in found), Spent())


def _ask(count: int, paid: Spent) -> None:
    question = f"revoke {console.counted(count, 'record')} that cost {paid.text}?"
    if not sys.stdin.isatty():
        raise UsageError(f"{question} there is no terminal to ask at", remedy="say --yes")
    console.say(f"{question} [y/N] ", end="")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was revoked")
