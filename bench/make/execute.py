"""The action of every step: decide, then reuse, restore or make; seal, store, journal and lay out what was made.

No action fails in doit's sense. What goes wrong with one step becomes its record's state and reason; a fault of this machine
stops the run instead, and writes nothing.
"""

from __future__ import annotations

import shutil
import tempfile
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import bench.layout as layout
from bench.core import digest, records, regraded
from bench.core.admission import limited
from bench.core.records import Blob, Record, sealed
from bench.effects import clock, executors, files
from bench.effects.context import Context, Job, Made
from bench.errors import BenchError, Cancelled, CorpusError, EnvironmentRefused, IntegrityError, UsageError
from bench.make import costs, laid_out, revoke
from bench.make.admission import Ticket
from bench.make.decide import Verdict, decide, shut_gate
from bench.make.progress import Progress
from bench.make.step import Step
from bench.make.workspace import Workspace

RAW_LIMIT = 64 << 20
"""Bytes of one raw input file (a cassette is the largest kind)."""


def build(workspace: Workspace, step: Step, progress: Progress) -> bool:
    """Bring one step up to date. Never raises for what its record can say.

    False where it was stopped before its end: doit would otherwise note its inputs as those of the record that is there.
    """
    run = workspace.run
    run.refused = run.refused or workspace.index.fault
    if run.stopped:
        return False
    started = clock.monotonic()
    progress.start(step)
    did, record = "cancelled", None
    try:
        did, record = _build(workspace, step, progress)
    except Cancelled:
        pass
    except (EnvironmentRefused, CorpusError, UsageError) as error:
        run.refused = run.refused or error
        did = "refused"
    except IntegrityError as error:
        _damaged(workspace, error)
        did = records.NOT_RUN
    run.did[step.id] = did
    progress.end(step, did, record, clock.monotonic() - started)
    return did not in ("cancelled", "refused")


def _build(workspace: Workspace, step: Step, progress: Progress) -> tuple[str, Record | None]:
    verdict = decide(workspace, step)
    if verdict.action == "hold":
        return _held(workspace, step, verdict, verdict.why)
    if verdict.action in ("reuse", "restore"):
        return _take(workspace, step, verdict)
    with workspace.making(verdict.key) as before:
        if before:
            # Another step of this run has the same evidence: it is not to be paid for twice.
            if workspace.run.stopped:
                raise Cancelled("stopped before its turn", where=step.id)
            verdict = decide(workspace, step)
            if verdict.action in ("reuse", "restore"):
                return _take(workspace, step, verdict)
        if why := shut_gate(workspace, step):
            return _held(workspace, step, verdict, why)
        if step.terms is not None and _measured_now(workspace, step) is None:
            return _session(workspace, step, verdict, progress)
        return _fresh(workspace, step, verdict)


def _held(workspace: Workspace, step: Step, verdict: Verdict, why: str) -> tuple[str, Record]:
    here = workspace.read(step.target) if step.paid else None
    if here is not None and here.state != records.NOT_RUN and workspace.store.entry(here.key) is None:
        workspace.store.put_record(here)  # what was paid for is not overwritten before the store has it
    record = _seal(step, verdict, {}, Made({}, {}, records.NOT_RUN, why), None)
    _write(workspace, step, record)
    return records.NOT_RUN, record


def _session(workspace: Workspace, step: Step, verdict: Verdict, progress: Progress) -> tuple[str, Record | None]:
    """An agent's session: let in, made, told of; made once more when a rate limit ended it and has reset since."""
    admission, log = workspace.run.admission, _logger(workspace, step)

    def say(line: str) -> None:
        log(line)
        progress.say(line)

    if step.paid:
        from bench.make import live  # for those who pay

        live.refuse(step)
    while True:
        ticket = admission.enter(step, partial(costs.history, workspace, step), say)
        if isinstance(ticket, str):
            return _held(workspace, step, verdict, ticket)
        did, record, again = "", None, False
        try:
            did, record = _fresh(workspace, step, verdict, ticket)
        finally:
            again = admission.leave(ticket, record, say)
        if not again:
            return did, record
        log("ended by a rate limit; it runs again when that has reset, and no retry is charged")
        verdict = decide(workspace, step)


def _take(workspace: Workspace, step: Step, verdict: Verdict) -> tuple[str, Record]:
    assert verdict.record is not None
    record = verdict.record.renamed(step.name)
    restored = verdict.action == "restore"
    if restored:
        facts = {"key": record.key, "content": record.content, "seal": record.seal, "of": verdict.record.seal}
        workspace.journal.write("restored", kind=step.kind, name=step.name, **facts)
        _write(workspace, step, record)
    else:
        if workspace.store.find(record.key) is None:
            workspace.store.put_record(record)
        workspace.index.note(step.target, record, workspace.sign(step))
    laid_out.lay_out(workspace, step, record)
    return ("restored" if restored else "reused"), record


def _fresh(workspace: Workspace, step: Step, verdict: Verdict, ticket: Ticket | None = None) -> tuple[str, Record]:
    _keep_attempts(workspace, step, verdict)
    made, raw = _make(workspace, step, verdict, ticket)
    if step.paid:
        tries = revoke.tries(workspace, step, verdict.key) + 1
        made = replace(made, notes={**made.notes, records.ATTEMPTS: tries})
    record = _seal(step, verdict, raw, made, workspace.closure(step))
    # Journal, store, record, in this order: what the store holds is always known to the journal, whenever we are killed.
    facts = {"kind": step.kind, "name": step.name, "state": record.state, "spent_usd": record.body.get("spent_usd", 0)}
    if record.state == records.UNUSABLE and limited(record.body):
        facts["charged"] = False  # the service's own limit: no attempt of this step's retries
    if step.kind == "cell" and verdict.record is not None:
        # In no record: whoever graded the session once only is to have the same bytes.
        facts |= regraded.noted(verdict.record, record, workspace.journal.regraded(verdict.record.key))
    if record.state != records.NOT_RUN:
        workspace.journal.write("built", key=record.key, content=record.content, seal=record.seal, **facts)
    elif facts["spent_usd"]:
        workspace.journal.write("stopped", record_key=record.key, **facts)  # no attempt, but money all the same
    if record.state == records.FINAL or (record.state == records.UNUSABLE and step.paid):
        workspace.store.put_record(record)
    _write(workspace, step, record)
    laid_out.lay_out(workspace, step, record)
    if record.state == records.FINAL:
        stood = step.measures and records.STANDS_FOR not in record.body
        return ("measured" if stood else "built"), record
    return record.state, record


def _measured_now(workspace: Workspace, step: Step) -> Record | None:
    """A session that this step comes after (a canary's: those of its arm) and that was measured in this very run: the step
    may stand for it at no cost."""
    made = (path for path in step.after if workspace.run.did.get(layout.step_id(path)) == "measured")
    return next((record for path in made if (record := workspace.read(path)) is not None), None)


def _make(workspace: Workspace, step: Step, verdict: Verdict, ticket: Ticket | None) -> tuple[Made, dict[str, Blob]]:
    raw: dict[str, Blob] = {}
    workspace.layout.tmp.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=workspace.layout.tmp))
    try:
        for role, path in step.files.items():
            data = files.read_regular(Path(workspace.layout.root, path), RAW_LIMIT)
            raw[role] = workspace.store.put(data)
            if raw[role].blob != workspace.index.digest(path):
                return Made(
                    {}, {}, records.NOT_RUN, f"its file {role} changed while the run was going on; run doit again"
                ), raw
        twin = _measured_now(workspace, step)
        if twin is not None:
            return Made({**twin.body, "spent_usd": 0.0, records.STANDS_FOR: twin.name}, twin.outputs), raw
        job = Job(step.kind, step.name, verdict.key, step.params, verdict.inputs, raw, step.hints)
        context = Context(
            store=workspace.store,
            root=workspace.layout.root,
            scratch=scratch,
            cancel=workspace.run.cancel,
            log=_logger(workspace, step),
            spent=partial(workspace.run.admission.spend, ticket),
            left=partial(workspace.run.admission.left, ticket),
            gateway=workspace.run.gateway,
        )
        return executors.create().execute(step.module, job, context), raw
    except (Cancelled, EnvironmentRefused):
        raise
    except IntegrityError as error:
        return Made({}, {}, records.NOT_RUN, _damaged(workspace, error)), raw
    except BenchError as error:
        return Made({}, {}, records.UNUSABLE, str(error)), raw
    except OSError as error:
        fault = files.storage_fault(error, error.filename or step.target, writing=False)
        if fault is not None:
            raise fault from error
        return _crashed(workspace, step, error), raw
    except Exception as error:  # noqa: BLE001 - the one boundary: a step that raises must not stop the others
        return _crashed(workspace, step, error), raw
    finally:
        files.remove_tree(scratch)


def _damaged(workspace: Workspace, error: IntegrityError) -> str:
    """Take damaged bytes out of use and say so; the next run makes them again."""
    if digest.is_digest(error.where):
        workspace.set_aside(error.where)
    text = f"{error} when run again"
    if text not in workspace.run.warnings:
        workspace.run.warnings.append(text)
    return text


def _crashed(workspace: Workspace, step: Step, error: Exception) -> Made:
    _logger(workspace, step)("".join(traceback.format_exception(error)))
    workspace.run.crashed.append(step.id)
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    # The text may hold paths of this machine, which no record may: the log has it whole.
    reason = f"internal error, {type(error).__name__} (see logs)" if "/" in what else what
    # Our fault, so nothing was measured; but what was paid for is an attempt, and not to be bought again without end.
    return Made({}, {}, records.UNUSABLE if step.paid else records.NOT_RUN, reason)


def _seal(step: Step, verdict: Verdict, raw: Mapping[str, Blob], made: Made, code: str | None) -> Record:
    inputs = {role: record.content for role, record in verdict.inputs.items()}
    inputs |= {f"file:{role}": blob.blob for role, blob in raw.items()}
    return sealed(
        Record(
            kind=step.kind,
            name=step.name,
            key=verdict.key,
            inputs=inputs,
            params=step.params,
            state=made.state,
            reason=made.reason,
            outputs=made.outputs,
            body=made.body,
            code=code,
            notes=made.notes,
        )
    )


def _write(workspace: Workspace, step: Step, record: Record) -> None:
    files.write_atomic(Path(workspace.layout.root, step.target), record.to_bytes())
    workspace.index.note(step.target, record, workspace.sign(step))


def _keep_attempts(workspace: Workspace, step: Step, verdict: Verdict) -> None:
    # Nothing that was paid for is overwritten: neither the key's entry nor a record on disk that no entry holds.
    if not step.paid:
        return
    kept: dict[str, Record] = {}
    for old in (workspace.store.entry(verdict.key), verdict.record):
        if old is None or old.state == records.NOT_RUN:
            continue
        if old.key == verdict.key or workspace.store.entry(old.key) is None:
            kept[old.content] = old
    for old in kept.values():
        name, number = revoke.next_attempt(workspace, step)
        files.write_atomic(name, old.to_bytes())
        workspace.journal.write("kept", kind=step.kind, name=step.name, attempt=number, record_key=old.key)


def _logger(workspace: Workspace, step: Step) -> Callable[[str], None]:
    path = workspace.layout.logs / f"{step.kind}s" / f"{step.name}.log"

    def log(line: str) -> None:
        files.append_line(path, f"{clock.stamp()} {line}".encode("utf-8", "replace"))

    return log


def sweep_scratch(workspace: Workspace) -> None:
    """Delete what a killed run left in artifacts/tmp. Called with the workspace lock held."""
    if workspace.layout.tmp.is_dir():
        for left in workspace.layout.tmp.iterdir():
            files.remove_tree(left)
        shutil.rmtree(workspace.layout.tmp, ignore_errors=True)
