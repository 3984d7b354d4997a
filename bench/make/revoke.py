"""Revocation and its taking back: records and key entries move to artifacts/revoked/ and return. Deletes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench.core import records
from bench.core.records import Record
from bench.effects import files
from bench.errors import IntegrityError
from bench.make.step import Step
from bench.make.workspace import Workspace

ATTEMPT = ".attempt-"
REVOKED = ".revoked-"


def revoke(workspace: Workspace, step: Step) -> bool:
    """Take a step's evidence out of use. False when there is none."""
    path = Path(workspace.layout.root, step.target)
    try:
        data = path.read_bytes()
    except OSError:
        return False
    number = 1 + max((n for n, _ in entries(workspace, step.target)), default=0)
    files.write_atomic(workspace.layout.revoked / f"{step.target}{REVOKED}{number}", data)
    record = _parsed(data, step.target)
    if record is not None:
        workspace.store.drop_record(record.key)
        spent = record.body.get("spent_usd", 0)
        workspace.journal.write(
            "revoked", kind=step.kind, name=step.name, key=record.key, content=record.content, spent_usd=spent
        )
    path.unlink()
    workspace.index.forget(step.target)
    return True


def restore(workspace: Workspace, step: Step) -> bool:
    """Bring back the evidence that was revoked last. False when there is none."""
    found = sorted(entries(workspace, step.target))
    if not found:
        return False
    path = found[-1][1]
    data = path.read_bytes()
    record = records.parse(data, path.name)
    missing = [blob.blob for blob in record.outputs.values() if not workspace.store.has(blob.blob)]
    if missing:
        raise IntegrityError(f"bytes of the revoked record are gone ({missing[0]})", where=step.id)
    if record.state != records.NOT_RUN:
        workspace.store.put_record(record)
        workspace.journal.write("restored", kind=step.kind, name=step.name, key=record.key, content=record.content)
    files.write_atomic(Path(workspace.layout.root, step.target), data)
    workspace.index.note(step.target, record, workspace.sign(step))
    path.unlink()
    return True


def entries(workspace: Workspace, target: str) -> Iterable[tuple[int, Path]]:
    """`(number, path)` of the revoked records of a target."""
    home = workspace.layout.revoked / target
    if home.parent.is_dir():
        for path in home.parent.glob(f"{home.name}{REVOKED}*"):
            number = path.name.rsplit("-", 1)[1]
            if number.isdigit():
                yield int(number), path


def cost(workspace: Workspace, step: Step) -> float:
    """Dollars that a step's evidence was bought for."""
    record = workspace.read(step.target)
    return float(record.body.get("spent_usd") or 0) if record is not None else 0.0


def _parsed(data: bytes, where: str) -> Record | None:
    try:
        return records.parse(data, where)
    except IntegrityError:
        return None
