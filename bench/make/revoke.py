"""Revocation and its taking back: records and key entries move to artifacts/revoked/ and return. Deletes nothing."""

from __future__ import annotations

import datetime
import glob
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.core import records, spent
from bench.core.records import Record
from bench.core.spent import Spent
from bench.effects import clock, files
from bench.errors import IntegrityError
from bench.make.decide import decide
from bench.make.step import Step
from bench.make.workspace import Workspace

ATTEMPT = ".attempt-"
REVOKED = ".revoked-"


@dataclass(frozen=True, slots=True)
class Standing:
    """What there is to revoke of a step: its key, the records (the one to bring back last), the dollars that they cost."""

    key: str | None
    records: list[bytes]
    spent: Spent


def standing(workspace: Workspace, step: Step) -> Standing | None:
    """The record on disk and what the store holds under its key, or would give back. None when there is nothing."""
    try:
        here: bytes | None = Path(workspace.layout.root, step.target).read_bytes()
    except OSError:
        here = None
    workspace.index.load()
    record = workspace.read(step.target)
    facts = workspace.index.records.get(step.target)
    if record is not None:
        key: str | None = record.key
    elif facts is not None and here is not None:
        key = facts.key  # damaged or forged: what it was before
    else:
        verdict = decide(workspace, step)
        key = verdict.key if verdict.action == "restore" else None
    kept = workspace.store.entry(key) if key else None
    if kept is not None and record is not None and kept.content == record.content:
        kept = None
    copies = [] if here is None else [here]
    if kept is not None:
        copies.append(kept.renamed(step.name).to_bytes())
    paid = sum((spent.of(found.body) for found in (record, kept) if found is not None), Spent())
    return Standing(key, copies, paid) if copies else None


def revoke(workspace: Workspace, step: Step) -> list[str]:
    """Take a step's evidence out of use, and that of every step that shares it. The steps; none where there is nothing."""
    found = standing(workspace, step)
    if found is None:
        return []
    number = 1 + max((n for n, _ in entries(workspace, step.target)), default=0)
    for place, data in enumerate(found.records, number):
        files.write_atomic(workspace.layout.revoked / f"{step.target}{REVOKED}{place}", data)
    if found.key is not None:
        workspace.store.drop_record(found.key)
        workspace.journal.write("revoked", kind=step.kind, name=step.name, key=found.key, spent_usd=found.spent.known)
    Path(workspace.layout.root, step.target).unlink(missing_ok=True)
    workspace.index.forget(step.target)
    done = [step.id]
    for other in _sharing(workspace, found.key) if found.key is not None else ():
        done += revoke(workspace, other)
    return done


def _sharing(workspace: Workspace, key: str) -> list[Step]:
    workspace.index.load()
    paths = [path for path, facts in workspace.index.records.items() if facts.key == key and path in workspace.steps]
    found = {path: _parsed_at(Path(workspace.layout.root, path)) for path in paths}
    return [workspace.steps[path] for path, record in found.items() if record is not None and record.key == key]


def restore(workspace: Workspace, step: Step) -> bool:
    """Bring back the evidence that was revoked last; what stands in its place now is revoked. False when there is none."""
    found = sorted(entries(workspace, step.target))
    if not found:
        return False
    path = found[-1][1]
    record = records.parse(path.read_bytes(), path.name)
    here = _parsed_at(Path(workspace.layout.root, step.target))
    if here is not None and here.seal == record.seal:
        path.unlink()
        return False
    missing = [blob.blob for blob in record.outputs.values() if not workspace.store.has(blob.blob)]
    if missing:
        raise IntegrityError(f"bytes of the revoked record are gone ({missing[0]})", where=step.id)
    if here is not None:
        revoke(workspace, step)
    record = _knowing(workspace, step, record)
    if record.state != records.NOT_RUN:
        facts = {"key": record.key, "content": record.content, "seal": record.seal}
        workspace.journal.write("restored", kind=step.kind, name=step.name, **facts)
        workspace.store.put_record(record)
    files.write_atomic(Path(workspace.layout.root, step.target), record.to_bytes())
    workspace.index.note(step.target, record, workspace.sign(step))
    path.unlink()
    return True


def tries(workspace: Workspace, step: Step, key: str) -> int:
    """Attempts so far, revoked ones too, that are no older than evidence may be: whoever tries again until it looks good is
    seen by the gate, and whoever measures again what grew old is not."""
    days = datetime.timedelta(days=step.max_age_days or 0)
    return workspace.journal.tries(key, clock.stamp(clock.now_utc() - days) if days else "")


def _knowing(workspace: Workspace, step: Step, record: Record) -> Record:
    """The record with all attempts there were: going back to a lucky one hides none of those that came after it."""
    if not step.paid or record.state == records.NOT_RUN:
        return record
    bought = tries(workspace, step, record.key)
    if bought <= records.attempts(record):
        return record
    return records.sealed(replace(record, body={**record.body, records.ATTEMPTS: bought}))


def entries(workspace: Workspace, target: str) -> Iterable[tuple[int, Path]]:
    """`(number, path)` of the revoked records of a target."""
    home = workspace.layout.revoked / target
    if home.parent.is_dir():
        for path in home.parent.glob(f"{glob.escape(home.name)}{REVOKED}*"):
            number = path.name.rsplit("-", 1)[1]
            if number.isdigit():
                yield int(number), path


def next_attempt(workspace: Workspace, step: Step) -> tuple[Path, int]:
    """Where the next attempt at a step that is set aside goes, and its number."""
    home = workspace.layout.revoked / step.target
    found = home.parent.glob(f"{glob.escape(home.name)}{ATTEMPT}*") if home.parent.is_dir() else ()
    number = 1 + max((int(end) for path in found if (end := path.name.rsplit("-", 1)[1]).isdigit()), default=0)
    return home.with_name(f"{home.name}{ATTEMPT}{number}"), number


def _parsed_at(path: Path) -> Record | None:
    try:
        return records.parse(path.read_bytes(), path.name)
    except (OSError, IntegrityError):
        return None
