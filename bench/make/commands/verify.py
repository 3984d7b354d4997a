"""`doit verify`: re-checks every seal, blob and key on disk and in the store. Reads everything, writes nothing."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import bench.layout as layout
from bench.core import keys, protocols, records, spent
from bench.core.records import Record
from bench.effects import clock, console
from bench.errors import IntegrityError
from bench.make import laid_out, recheck
from bench.make.commands.base import StepCommand
from bench.make.workspace import CLOCK_SLACK, Workspace

FAULTY = 1


class Verify(StepCommand):
    """Exit 1 when anything does not hold, naming each."""

    name = "verify"
    doc_purpose = "re-check every seal, blob and key"
    doc_usage = ""
    doc_description = None
    cmd_options = ()

    def _execute(self) -> int:
        self.refuse_words()
        workspace = self.pipeline.workspace
        faults: list[str] = []
        found = list(_on_disk(workspace, faults))
        users: dict[str, str] = {}
        for path, record in found:
            faults += _record_faults(workspace, path, record)
            for blob in record.outputs.values():
                if record.kind != "report" or blob.blob not in users:  # a report shows bytes that another step made
                    users[blob.blob] = f"{record.kind}:{record.name}"
        faults += _entry_faults(workspace)
        blobs = 0
        for name in workspace.store.blobs():
            blobs += 1
            try:
                workspace.store.get(name)
            except IntegrityError as error:
                # A run looks at bytes when it uses them, and an up-to-date one uses none: revoking is what heals.
                user = users.get(name)
                remedy = f"`doit clean '{user}'`, then doit makes it again" if user else "no record on disk uses them"
                faults.append(f"{error.where}: {error.what}; {remedy}")
        faults += laid_out.faults(workspace)
        faults += list(_foreign_faults(workspace))
        for fault in faults:
            console.say_err(f"error: {console.visible(fault)}")
        console.say(
            f"{console.counted(len(found), 'record')}, {console.counted(blobs, 'blob')}: "
            + ("all hold" if not faults else console.counted(len(faults), "fault"))
        )
        return FAULTY if faults else 0


def _on_disk(workspace: Workspace, faults: list[str]) -> Iterator[tuple[str, Record]]:
    for folder in sorted(set(layout.FOLDERS.values())):
        for path in sorted((workspace.layout.artifacts / folder).rglob("*.json")):
            relative = path.relative_to(workspace.layout.root).as_posix()
            step = layout.step_of(relative)
            if step is None or (step[0] == "report" and "/" in step[1]):
                continue  # a file of a report is no record
            try:
                yield relative, records.parse(path.read_bytes(), relative)
            except (IntegrityError, OSError) as error:
                faults.append(str(error))


def _entry_faults(workspace: Workspace) -> Iterator[str]:
    for key in list(workspace.store.keys()):
        entry = workspace.store.entry(key)
        if entry is None:
            yield f"store entry {key} is damaged; delete artifacts/.doit.db and run doit to have it made again"
            continue
        where = f"{entry.kind}:{entry.name}"
        if not workspace.vouched(entry):
            yield f"store entry {key} is not what was made under it ({where})"
        elif workspace.store.find(key) is None:
            text = f"bytes that the store entry {key} names are missing ({where})"
            if spent.of(entry.body).any:
                yield text
            else:  # what cost nothing and stands nowhere is made again if it is ever wanted
                console.say(f"note: {console.visible(text)}")


def _record_faults(workspace: Workspace, path: str, record: Record) -> Iterator[str]:
    where = f"{record.kind}:{record.name}"
    if layout.step_of(path) != (record.kind, record.name):
        yield f"{path}: this is the record of {where}"
        return
    if path not in workspace.steps and record.state == records.FINAL:
        console.say(f"note: {console.visible(where)} is on disk and declared by no suite")
    for name, blob in record.outputs.items():
        if not workspace.store.has(blob.blob):
            yield f"{where}: bytes of {name} ({blob.blob[:15]}…) are missing from the store"
    measured = record.body.get("measured_at")
    if measured is not None and (moment := _moment(measured)) is None:
        yield f"{where}: measured_at {measured!r} is no time"
    elif measured is not None and moment is not None and moment > clock.now_utc() + CLOCK_SLACK:
        yield f"{where}: measured_at {measured} lies in the future"
    if record.state == records.NOT_RUN:
        return
    if record.key not in _keys_of(record):
        yield f"{where}: its key does not follow from its own params and inputs"
    entry = workspace.store.entry(record.key)
    if record.kind == "promotion":
        yield from recheck.faults(workspace, record)
    if entry is not None and entry.renamed(record.name).seal != record.seal:
        yield f"{where}: differs from what the store holds for its key"
    elif not workspace.vouched(record, alone=entry is None):
        yield f"{where}: neither the store nor the journal vouches for it"


def _foreign_faults(workspace: Workspace) -> Iterator[str]:
    """Promotions that came from elsewhere: older ones are readable, and that is all that they are."""
    for path, found, version in recheck.foreign(workspace):
        yield from (f"{path}: {fault}" for fault in found)
        if not found:
            console.say(f"note: {console.visible(path)} is a promotion of schema {version} that no step here made")


def _moment(text: Any) -> datetime.datetime | None:
    try:
        return clock.parse(text)
    except (TypeError, ValueError):
        return None


def _keys_of(record: Record) -> Iterator[str]:
    """The keys that follow from what a record says of itself, one per protocol under which it may have been made."""
    files = {k.removeprefix("file:"): v for k, v in record.inputs.items() if k.startswith("file:")}
    inputs = {k: v for k, v in record.inputs.items() if not k.startswith("file:")}
    for protocol in protocols.known(record.kind):
        code = None if protocol else record.code
        yield keys.key(keys.signature(record.kind, protocol, record.params, [*inputs, *files], code), inputs, files)
