"""`health:<suite>`: the state of measurement of every arm. It judges and fails nothing: `suite:` makes `fatal` an exit code.

inputs: aggregate; canary/<arm>… (cells of canaries, where there are any). params: {} or {suite}.
"""

from __future__ import annotations

from typing import Any

from bench.core import aggregate, health
from bench.core.suspicions import BROKEN
from bench.effects.context import Context, Job, Made
from bench.effects.report import text

KIND = "health"
PROTOCOL = 1
CANARY = "canary"


def make(job: Job, context: Context) -> Made:
    """Body of `health.judge` (arms, fatal, broken_tasks, lines) with planned, measured and complete of the aggregate."""
    body = job.inputs["aggregate"].body
    ordered = {name: body["arms"][name] for name in body["arm_order"]}
    arms = health.with_canaries(ordered, _canaries(job, ordered))
    judged = health.judge(arms, [task for task in body["tasks"] if task["calibration"] == BROKEN])
    judged["lines"] = [text.line(line) for line in judged["lines"]]
    for line in judged["lines"]:
        context.log(line)
    return Made(judged | {name: body[name] for name in ("planned", "measured", "complete")})


def _canaries(job: Job, arms: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for role, record in sorted(job.inputs.items()):
        kind, _, rest = role.partition("/")
        arm = rest.partition("/")[0]
        if kind == CANARY and arm in arms:
            identity = {"task": "", "class": "", "arm": arm, "role": arms[arm]["role"], "run": 0}
            found.setdefault(arm, []).append(aggregate.compact(identity, record))
    return found
