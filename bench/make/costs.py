"""What sessions have cost: the figures behind what one more is expected to cost. Reads records; writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bench.core.records import Record
from bench.make.admission import cost_of, kin
from bench.make.step import Step
from bench.make.workspace import Workspace


def history(workspace: Workspace, step: Step, wide: bool) -> list[float]:
    """Dollars of the finished live sessions on disk that are of a step's suite, arm (any when wide), model and effort."""
    family = kin(step.name, step.params, wide=wide)
    alike = [other for other in list(workspace.steps.values()) if kin(other.name, step.params, wide=wide) == family]
    return [
        dollars for one, record, dollars in bought(workspace, alike) if kin(one.name, record.params, wide=wide) == family
    ]


def bought(workspace: Workspace, steps: Iterable[Step]) -> Iterator[tuple[Step, Record, float]]:
    """Those of the steps that are finished live sessions of a known cost, with their records and dollars."""
    for step in steps:
        record = workspace.read(step.target) if step.paid and step.measures else None
        if record is not None and (dollars := cost_of(record)) is not None:
            yield step, record, dollars
