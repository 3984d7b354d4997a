"""`record=<name>`: the traffic of a run's live sessions, kept by their records, becomes corpus/cassettes/<name>.json."""

from __future__ import annotations

import bench.layout as layout
from bench.core import names
from bench.effects import cassette_record, console, files
from bench.errors import UsageError
from bench.make.step import Step
from bench.make.workspace import Workspace

RECORDING = "recording"
"""Output of a session with a live model: a cassette of its one conversation, secrets stripped."""


def check(name: str) -> None:
    """Raises before anything is spent when no file could have this name."""
    names.check(name, "record=")


def write(workspace: Workspace, steps: list[Step], name: str) -> None:
    """Merge the recordings of these steps. Raises UsageError when no session of them was live."""
    found = []
    for step in steps:
        record = workspace.read(step.target) if step.kind == "session" else None
        if record is not None and RECORDING in record.outputs:
            found.append(workspace.store.get(record.outputs[RECORDING].blob))
    if not found:
        raise UsageError(
            "no session of this run had a live model", where="record=", remedy="name a model that is not a replay"
        )
    target = workspace.layout.corpus / "cassettes" / f"{name}.json"
    files.write_atomic(target, cassette_record.merge(found), mode=0o644)
    console.say(
        f"recorded {len(found)} sessions: {layout.CORPUS}/cassettes/{target.name}; replay them with model=replay/{name}"
    )
