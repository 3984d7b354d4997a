"""What would be done about a step, and why. Shared by the action, by `doit plan` and by `doit why`; writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.core import records
from bench.core.records import Record
from bench.make.index import ABSENT
from bench.make.step import Step
from bench.make.workspace import Workspace

FREE_OF_INPUT_STATE = frozenset({"aggregate", "health", "promotion", "report"})
"""Kinds that are made from whatever is there: a missing or unusable input is part of what they report."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`action` is one of reuse (the record on disk fits), restore (the store has it), build, measure, hold."""

    action: str
    why: str
    key: str
    record: Record | None = None
    inputs: Mapping[str, Record] = field(default_factory=dict)


def decide(workspace: Workspace, step: Step, coming: Mapping[str, Record] | None = None) -> Verdict:
    """Look at inputs, key, record on disk and store, in this order. `coming`: records that will stand there by then."""
    inputs: dict[str, Record] = {}
    for role, path in step.needs.items():
        record = (coming or {}).get(path) or workspace.read(path)
        if record is not None:
            inputs[role] = record
    contents = {role: record.content for role, record in inputs.items()}
    digests = {role: workspace.index.digest(path) for role, path in step.files.items()}
    key = workspace.key(step, contents, digests)
    held = _held_back(step, inputs) or _absent_file(step, digests)
    if held:
        return Verdict("hold", held, key, None, inputs)
    here = workspace.read(step.target)
    if here is not None and here.key == key and _stands(workspace, step, here):
        return Verdict("reuse", "the record on disk has the key that the inputs give", key, here, inputs)
    kept = workspace.kept(key)
    if kept is not None and _stands(workspace, step, kept):
        return Verdict("restore", "the store holds evidence for this key", key, kept, inputs)
    return Verdict(
        "measure" if step.measures else "build", changed(workspace, step, here, contents, digests), key, here, inputs
    )


def _stands(workspace: Workspace, step: Step, record: Record) -> bool:
    measured = record.body.get("measured_at")
    return (
        workspace.settled(step, record.state, record.key)
        and workspace.fresh_enough(step, record.state, measured)
        and all(workspace.has_blob(blob.blob) for blob in record.outputs.values())
    )


def _held_back(step: Step, inputs: Mapping[str, Record]) -> str | None:
    if step.kind in FREE_OF_INPUT_STATE:
        return None
    for role, path in step.needs.items():
        record = inputs.get(role)
        if record is None:
            return f"no record of its {role} ({path})"
        graded = step.kind == "cell" and role == "session" and record.state == records.UNUSABLE
        if record.state != records.FINAL and not graded:
            return f"its {role} is {record.state}: {record.reason}"
    return None


def shut_gate(workspace: Workspace, step: Step) -> str | None:
    """Why a step may not be made now although its inputs are there; evidence that exists already needs no gate."""
    for role, path in step.gates.items():
        record = workspace.read(path)
        if record is None:
            return f"no record of its {role} ({path})"
        if record.state != records.FINAL:
            return f"its {role} is {record.state}: {record.reason}"
    return None


def _absent_file(step: Step, digests: Mapping[str, str]) -> str | None:
    for role, found in digests.items():
        if found == ABSENT:
            return f"its file {role} is not there"
    return None


def changed(
    workspace: Workspace, step: Step, here: Record | None, contents: Mapping[str, str], digests: Mapping[str, str]
) -> str:
    """Why the record on disk does not do, in words, with old digest and new where one input differs."""
    if here is None:
        return "no record yet"
    if here.state != records.FINAL and not workspace.settled(step, here.state, here.key):
        return f"the record is {here.state} ({here.reason}) and runs again"
    if not workspace.fresh_enough(step, here.state, here.body.get("measured_at")):
        when = here.body.get("measured_at") or "no known time"
        return f"measured at {when}, outside the age limit of {step.max_age_days} days"
    missing = [name for name, blob in here.outputs.items() if not workspace.has_blob(blob.blob)]
    if missing:
        return f"bytes of {', '.join(missing)} are missing from the store"
    now = dict(contents) | {f"file:{role}": value for role, value in digests.items()}
    parts = [
        f"{role} {short(here.inputs.get(role))} → {short(now.get(role))}"
        for role in sorted({*here.inputs, *now})
        if here.inputs.get(role) != now.get(role)
    ]
    parts += [
        f"param {name}: {here.params.get(name)!r} → {step.params.get(name)!r}"[:200]
        for name in sorted({*here.params, *step.params})
        if here.params.get(name) != step.params.get(name)
    ]
    return "; ".join(parts) if parts else "the code that makes it, or its protocol, changed"


def short(value: str | None) -> str:
    """A digest for people."""
    return value[:11] if value else "(none)"
