"""The end of a run in words: what was built, reused, measured; the arms side by side; the report; the exit code."""

from __future__ import annotations

from collections import Counter

import bench.layout as layout
from bench.core import summary as told
from bench.core.records import FINAL, NOT_RUN
from bench.effects import console
from bench.make import verdicts
from bench.make.pipeline import Pipeline
from bench.make.verdicts import FAILED
from bench.make.workspace import Run

ORDER = ("measured", "built", "restored", "reused", "unusable", "not_run", "cancelled", "refused")
MOST = 10
"""Failures that are told one by one."""
TOLD = frozenset({"suite", "report", "health", "aggregate", "cell", "session", "template", "graph"})
"""Kinds of which `unchanged` tells all that a run of them would tell."""


def tell(pipeline: Pipeline, names: list[str], failures: list[str]) -> int:
    """Print the summary and give the exit code (design section 7)."""
    run = pipeline.workspace.run
    for warning in run.warnings:
        console.say_err(f"warning: {console.visible(warning)}")
    counts = Counter(run.did.values())
    parts = [f"{counts[did]} {did.replace('_', ' ')}" for did in ORDER if counts[did]]
    parts.append(f"{max(0, pipeline.progress.done - sum(counts.values()))} up to date")
    console.say(f"{', '.join(parts)}; spent {run.admission.spent.text}")
    if run.refused is not None:
        console.say_err(f"error: {run.refused}")
        return run.refused.exit_code
    crashed = [f"{step}: internal error, see {layout.ARTIFACTS}/logs/" for step in run.crashed]
    failures = [*failures, *crashed, *_named(pipeline, [name for name in names if name not in run.crashed])]
    code = FAILED if outage(run) or failures or counts[NOT_RUN] else 0
    for line in [*failures[:MOST], *([f"and {len(failures) - MOST} more"] if len(failures) > MOST else [])]:
        console.say_err(f"error: {line}")
    for name in pipeline.suites:
        if f"suite:{name}" in names or f"report:{name}" in names:
            code = max(code, _suite(pipeline, name, judged=_judged(name, names)))
        elif f"health:{name}" in names:
            code = max(code, _health(pipeline, name, lines=True))
    return max(code, verdicts.tell(pipeline, names))


def _judged(suite: str, names: list[str]) -> bool:
    """Whether what was asked for includes what the suite's evidence amounts to."""
    return f"suite:{suite}" in names or f"health:{suite}" in names


def outage(run: Run) -> bool:
    """Whether sessions of this run were stopped by an outage; says so."""
    for line in run.admission.trips:
        console.say_err(f"error: {console.visible(line)}; nothing more was started, the next doit goes on")
    return bool(run.admission.trips)


def _named(pipeline: Pipeline, names: list[str]) -> list[str]:
    """What was asked for by its own name and has no evidence, with the reason where no line of this run has told it."""
    workspace = pipeline.workspace
    steps = {step.id: step for step in workspace.steps.values()}
    lines = []
    for step in [steps[name] for name in names if name in steps]:
        facts = workspace.index.known(step.target)
        if facts is None:
            lines.append(f"{step.id} is without a record")
        elif facts.state != FINAL:
            record = None if step.id in workspace.run.did else workspace.read(step.target)
            lines.append(f"{step.id} is {facts.state}" + (f": {console.visible(str(record.reason))}" if record else ""))
    return lines


def unchanged(pipeline: Pipeline, names: list[str]) -> str:
    """What the next `doit` of these steps says when nothing has changed."""
    lines = [f"everything up to date ({pipeline.progress.done} steps)"]
    for name in pipeline.suites:
        if f"suite:{name}" in names or f"report:{name}" in names:
            report = pipeline.workspace.said(layout.record("report", name)) or {}
            lines += told.lines(report.get("summary", []))
            lines += verdicts.lines(pipeline, name) if _judged(name, names) else []
            lines.append(f"report: {layout.ARTIFACTS}/{layout.FOLDERS['report']}/{name}/index.html")
        elif f"health:{name}" in names:
            health = pipeline.workspace.said(layout.record("health", name)) or {}
            lines += [str(line) for line in health.get("lines", [])]
    return "\n".join(lines) + "\n"


def _suite(pipeline: Pipeline, name: str, *, judged: bool) -> int:
    report = pipeline.workspace.said(layout.record("report", name))
    if report is not None:
        for line in told.lines(report.get("summary", []), console.columns()):
            console.say(line)
        for line in verdicts.lines(pipeline, name) if judged else ():
            console.say(line)
        folder = f"{layout.ARTIFACTS}/{layout.FOLDERS['report']}/{name}"
        console.say(f"report: {folder}/index.html · {folder}/report.md · {folder}/results.jsonl")
    return _health(pipeline, name, lines=False) if judged else 0


def _health(pipeline: Pipeline, name: str, *, lines: bool) -> int:
    body = pipeline.workspace.said(layout.record("health", name))
    if body is None:
        console.say_err(f"error: health:{name} has no record")
        return FAILED
    for line in body.get("lines", []) if lines else []:
        console.say(line)
    bad = [f"arm {arm} of {name} is unusable" for arm in body.get("fatal", [])]
    if not body.get("complete", True):
        bad.append(f"{name} is incomplete: {body.get('measured')} of {body.get('planned')} cells measured")
    for line in bad:
        console.say_err(f"error: {line}; see the report for reasons")
    return FAILED if bad else 0
