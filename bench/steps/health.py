"""`health:<suite>`: the state of measurement of every arm. It judges and fails nothing: `suite:` makes `fatal` an exit code.

inputs: aggregate; canary/<arm>/<candidate>…, where there are any. params: {} or {suite}.
"""

from __future__ import annotations

from bench.core import canary, health
from bench.effects.context import Context, Job, Made
from bench.effects.report import text

KIND = "health"


def make(job: Job, context: Context) -> Made:
    """Body of `health.of_aggregate`: arms, fatal, broken_tasks, lines, planned, measured, complete."""
    body = job.inputs["aggregate"].body
    judged = health.of_aggregate(body, canary.rows(job.inputs, body["arms"]))
    judged["lines"] = [text.line(line) for line in judged["lines"]]
    for line in judged["lines"]:
        context.log(line)
    return Made(judged)
