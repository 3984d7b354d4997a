"""`aggregate:<suite>/<task>` brings a task's cells together, `aggregate:<suite>` the tasks' aggregates. Reads no session.

params of a task's: {task, class, cells: [[arm, role, run]…], engines?: {arm: engine}}, inputs `<arm>/<run>`: cells, or
aggregates of groups of them where there are many; a cell of the matrix that is in no input is counted as not run.
params of a suite's: {parts: [role…], skipped: [task…]}, inputs by role.
"""

from __future__ import annotations

from bench.core import aggregate
from bench.effects.context import Context, Job, Made

KIND = "aggregate"


def make(job: Job, context: Context) -> Made:
    """The aggregate's body; always final, since an incomplete aggregate is what health and report need to say so."""
    if "cells" not in job.params:
        parts = job.params.get("parts") or sorted(job.inputs)
        made = [job.inputs[part].body for part in parts if part in job.inputs]
        body = aggregate.merged(made, job.params.get("skipped", ()))
        body["complete"] &= len(made) == len(parts)  # how many cells a missing one had, nobody here knows
    else:
        # All that a task's aggregate says is said of its cells together: medians of groups are not the medians of the task.
        grouped = (row for part in job.inputs.values() if part.kind == KIND for row in part.body.get("rows", ()))
        known = {(row["arm"], row["run"]): row for row in grouped}
        rows = []
        for arm, role, run in job.params["cells"]:
            identity = {"task": job.params["task"], "class": job.params["class"], "arm": arm, "role": role, "run": run}
            cell = job.inputs.get(f"{arm}/{run}")
            rows.append(known.get((arm, run)) or aggregate.compact(identity, cell))
        body = aggregate.of_task(job.params, rows)
    context.log(f"{body['measured']} of {body['planned']} cells measured" + ("" if body["complete"] else " (incomplete)"))
    return Made(body)
