"""What sessions have cost: the figures behind what one more is expected to cost. Reads records; writes nothing."""

from __future__ import annotations

from bench.core import records
from bench.make.admission import kin
from bench.make.step import Step
from bench.make.workspace import Workspace


def history(workspace: Workspace, step: Step, wide: bool) -> list[float]:
    """Dollars of the finished live sessions on disk that are of a step's suite, arm (any when wide), model and effort."""
    found = []
    family = kin(step.name, step.params, wide=wide)
    for other in list(workspace.steps.values()):
        if other.paid and other.measures and kin(other.name, step.params, wide=wide) == family:
            record = workspace.read(other.target)
            if record is not None and record.state == records.FINAL and kin(other.name, record.params, wide=wide) == family:
                spent = record.body.get("spent_usd")
                found += [float(spent)] if spent is not None else []
    return found
