"""`health:<suite>`: the state of measurement of every arm. It judges and fails nothing: `suite:` makes `fatal` an exit code.

inputs: aggregate; canary/<arm>… (cells of canaries, where there are any). params: {} or {suite}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.core import aggregate, health
from bench.effects.context import Context, Job, Made
from bench.effects.report import text

KIND = "health"
CANARY = "canary"


def make(job: Job, context: Context) -> Made:
    """Body of `health.of_aggregate`: arms, fatal, broken_tasks, lines, planned, measured, complete."""
    body = job.inputs["aggregate"].body
    judged = health.of_aggregate(body, _canaries(job, body["arms"]))
    judged["lines"] = [text.line(line) for line in judged["lines"]]
    for line in judged["lines"]:
        context.log(line)
    return Made(judged)


def _canaries(job: Job, arms: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for role, record in sorted(job.inputs.items()):
        kind, _, rest = role.partition("/")
        arm = rest.partition("/")[0]
        if kind == CANARY and arm in arms:
            identity = {"task": "", "class": "", "arm": arm, "role": arms[arm]["role"], "run": 0}
            found.setdefault(arm, []).append(aggregate.compact(identity, record))
    return found
