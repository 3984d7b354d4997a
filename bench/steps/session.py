"""The paid step: one agent works on one task in a sandbox, and what it did is kept.

Order: layers, setup, then skills and graph read-only, session, death of every process, changes read back, layers gone.
An agent that failed is evidence like any other; only a session that shows nothing is `unusable`. Nothing here grades, and
no oracle is anywhere near. The layers are discarded whatever happens.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.core import records
from bench.core.error_kinds import EXCLUDED
from bench.core.records import Blob
from bench.effects import cassettes, changes, clock, engines, files, trees
from bench.effects.context import Context, Job, Made
from bench.effects.engines import Outcome, Room, Skill, Work
from bench.effects.engines.transcript import dump
from bench.effects.grading import staging
from bench.effects.grading.staging import Stage
from bench.effects.pressure import PressureWatch
from bench.effects.redact import Redactor, host_paths, known_secrets
from bench.effects.sandbox import Bind, Finished, Limits, Spec, Workspace, runner
from bench.effects.sandbox.pump import Watch
from bench.effects.trees import Entry
from bench.errors import BenchError, Cancelled, CorpusError, StepFailed

KIND = "session"

SKILLS = "/opt/skills"
"""Where an arm's skills are mounted: read-only, and outside every place that an agent can write or rename."""
GRAPH = "/opt/graph"
GRAPH_FILE = f"{GRAPH}/graph.json"
CALIBRATION_S = 600.0
"""Seconds for an engine without a session limit of its own: nop and gold."""
COPY = "copy/"
"""Role of a file of `sandbox_copy`: `copy/<path in the workspace>`."""
TAIL = 600
"""Characters kept of a setup's last words."""


@dataclass(slots=True)
class _Session:
    """What is known so far; `kind`, `cls`, `detail` hold the first cause of a failure."""

    backing: str
    measured_at: str
    kind: str | None = None
    cls: str | None = None
    detail: str | None = None
    setup: dict[str, Any] | None = None
    outcome: Outcome | None = None
    seconds: float = 0.0
    changed: bool | None = None
    priced_model: str | None = None
    """Whose list price the session's tokens have: the model, or the one that a cassette recorded."""
    pressure: dict[str, Any] = field(default_factory=dict)
    diagnostics: list[str] = field(default_factory=list)
    outputs: dict[str, Blob] = field(default_factory=dict)

    def fail(self, kind: str, cls: str, detail: str) -> None:
        """The first cause is kept; what comes after it is a diagnostic."""
        if self.kind is None:
            self.kind, self.cls, self.detail = kind, cls, detail
        else:
            self.diagnostics.append(f"{kind}: {detail}")


def make(job: Job, context: Context) -> Made:
    """params {engine, role, prompt, setup, model, effort, run, limits, expected_skills, engine_params}; inputs {template,
    graph?, assets?, skill?, gold?}; files {cassette?, copy/<path>…} → body of the reference's outcome fields, outputs
    {transcript, changes, calls?, recording?}. Raises what concerns the machine; what concerns the session is in the body."""
    redactor = Redactor(known_secrets(), _hidden(context))
    source, assets = job.inputs["template"], job.inputs.get("assets")
    staged = staging.stage(context.store, source, assets, scratch=context.scratch, cancel=context.cancel)
    layers = context.scratch / "layers"
    workspace = Workspace(staged.template, layers / "upper", runner.choose_backing(context.scratch))
    session = _Session(workspace.backing, clock.stamp())
    watch = PressureWatch()
    try:
        runner.prepare(workspace)
        _copy_in(job, context, workspace)
        _play(job, context, workspace, staged, session)
    except (StepFailed, CorpusError) as error:
        session.fail("infra-error", "broken-task", str(error))
    except Cancelled:
        session.fail("cancelled", "cancelled", "cancelled")
    finally:
        _discard(workspace, layers, session)
    session.pressure = watch.told()
    return _made(job, session, redactor)


def _copy_in(job: Job, context: Context, workspace: Workspace) -> None:
    """`sandbox_copy`: files that lie beside the source's revision, put into the workspace before anything runs there."""
    roles = sorted(role for role in job.files if role.startswith(COPY))
    entries = [Entry(role.removeprefix(COPY), "100644", context.store.get(job.files[role].blob)) for role in roles]
    if entries:
        changes.apply(changes.of(entries, ()), workspace, cancel=context.cancel)


def _hidden(context: Context) -> dict[str, str]:
    return host_paths(context.root, context.scratch, context.store.root)


def _play(job: Job, context: Context, workspace: Workspace, staged: Stage, session: _Session) -> None:
    """Setup, session, changes: fills `session`."""
    homes = {name: workspace.upper.parent / name for name in ("home", "tmp")}
    for path in homes.values():
        path.mkdir(parents=True, exist_ok=True)

    limits = job.params["limits"]
    plain = Spec(
        (), workspace, readonly=staged.mounts, home=homes["home"], tmp=homes["tmp"], dependencies=staged.dependencies
    )
    setup = job.params.get("setup")
    if setup:
        bounds = Limits(seconds=float(limits["setup_s"]))
        done = runner.run(replace(plain, argv=("sh", "-c", setup), limits=bounds), cancel=context.cancel)
        if not _set_up(done, session):
            return
    base = replace(plain, readonly=(*staged.mounts, *_readonly(job, context)))

    def execute(
        argv: tuple[str, ...],
        *,
        stdin: bytes = b"",
        seconds: float | None = None,
        env: Mapping[str, str] | None = None,
        readonly: tuple[Bind, ...] = (),
        writable: tuple[Bind, ...] = (),
        watch: Watch | None = None,
        cancel: threading.Event | None = None,
    ) -> Finished:
        bound = float(limits.get("session_s", CALIBRATION_S)) if seconds is None else seconds
        spec = replace(base, argv=tuple(argv), stdin=stdin, env=env or {}, limits=Limits(seconds=bound))
        spec = replace(spec, readonly=(*base.readonly, *readonly), writable=writable)
        return runner.run(spec, cancel=cancel or context.cancel, watch=watch)

    room = Room(execute, context.cancel, context.log, _hidden(context), context.spent, context.gateway)
    session.outcome = _work(job, context, room, session)
    if session.kind == "cancelled":
        return
    # Every run of the sandbox ends with the last of its processes, so nothing can change the layers any more.
    found = changes.collect(workspace, cancel=context.cancel)
    session.changed = found.any
    session.outputs["changes"] = context.store.put(found.pack())


def _set_up(done: Finished, session: _Session) -> bool:
    tail = (done.stdout + done.stderr).decode("utf-8", "replace").strip()[-TAIL:]
    session.setup = {"exit": done.exit, "limit": done.limit, "tail": tail}
    if done.limit == "cancelled":
        raise Cancelled("the setup was cancelled")
    if done.ok:
        return True
    cls = "setup-timeout" if done.limit == "time" else "setup-failed"
    how = f"limit of {done.limit}" if done.limit else f"exit status {done.exit}"
    session.fail("infra-error", cls, f"{cls}: {how}: {tail[-200:]}")
    return False


def _readonly(job: Job, context: Context) -> tuple[Bind, ...]:
    """Mounts that the session gets and its setup does not."""
    binds = []
    skill, graph = job.inputs.get("skill"), job.inputs.get("graph")
    if skill and "tree" in skill.outputs:
        binds.append(Bind(trees.expand(context.store, skill.outputs["tree"].blob), SKILLS))
    if graph:
        folder = context.scratch / "graph"
        files.write_atomic(folder / "graph.json", context.store.get(graph.outputs["graph"].blob), mode=0o444)
        folder.chmod(0o755)
        binds.append(Bind(folder, GRAPH))
    return tuple(binds)


def _skills(job: Job, context: Context) -> tuple[Skill, ...]:
    record = job.inputs.get("skill")
    if record is None or "tree" not in record.outputs:
        return ()
    texts = {entry.path: entry.data for entry in trees.entries_of(context.store.get(record.outputs["tree"].blob))}
    found = []
    for skill in record.body["skills"]:
        path = f"{skill['name']}/SKILL.md"
        text = texts.get(path, b"").decode("utf-8", "replace")
        found.append(Skill(skill["name"], skill["description"], f"{SKILLS}/{path}", text))
    return tuple(found)


def _work(job: Job, context: Context, room: Room, session: _Session) -> Outcome:
    """Open, run and close the engine; keep what it says."""
    params, gold, cassette = job.params, job.inputs.get("gold"), job.files.get("cassette")
    model = params.get("model")
    work = Work(
        # A calibration engine is given neither prompt nor model.
        prompt=params.get("prompt") or "",
        model=model,
        effort=params.get("effort"),
        run=int(params.get("run", 0)),
        limits=params["limits"],
        skills=_skills(job, context),
        expected_skill=(params.get("expected_skills") or {}).get("work"),
        patch=context.store.get(gold.outputs["patch"].blob) if gold else None,
        cassette=context.store.get(cassette.blob) if cassette else None,
        cassette_name=model.partition("/")[2] if model and cassette else None,
        params=params.get("engine_params") or {},
        graph=GRAPH_FILE if "graph" in job.inputs else None,
    )
    session.priced_model = cassettes.parse(work.cassette, str(model)).model if work.cassette is not None else model
    engine = engines.create(params["engine"])
    began = clock.monotonic()
    try:
        engine.open(work, room)
        # Opening loads libraries, once per process: that is not the agent's time.
        began = clock.monotonic()
        outcome = engine.run()
    finally:
        session.seconds = clock.monotonic() - began
        engine.close()
    session.outputs["transcript"] = context.store.put(outcome.transcript)
    if outcome.calls:
        session.outputs["calls"] = context.store.put(b"".join(dump(dict(c)).encode() + b"\n" for c in outcome.calls))
    if outcome.recording is not None:
        session.outputs["recording"] = context.store.put(outcome.recording)
    if outcome.error_kind:
        session.fail(outcome.error_kind, outcome.error_class or outcome.error_kind, outcome.error_detail or "")
    elif work.expected_skill and outcome.skill_used is not True:
        _unshown(work.expected_skill, outcome.skill_used, session)
    return outcome


def _unshown(skill: str, used: bool | None, session: _Session) -> None:
    if used is False:
        session.fail("skill-not-invoked", "skill-not-invoked", f"no command read the skill {skill}")
    else:
        session.fail("evidence-unverified", "skill-unverifiable", f"whether the skill {skill} was read cannot be told")


def _discard(workspace: Workspace, layers: Path, session: _Session) -> None:
    """Take the layers away. What cannot be removed becomes the cause, with the first one named behind it (spec 1.4)."""
    try:
        runner.discard(workspace)
        files.remove_tree(layers)
    except (BenchError, OSError) as error:
        why = error.what if isinstance(error, BenchError) else error.strerror
        primary = f"; primary={session.kind}: {session.detail}" if session.kind else ""
        session.kind, session.cls = "cleanup-failure", "cleanup-failure"
        session.detail = f"the layers could not be removed: {why}{primary}"[:2000]


def _made(job: Job, session: _Session, redactor: Redactor) -> Made:
    outcome, params = session.outcome, job.params
    body = {
        "error_kind": session.kind,
        "error_class": session.cls,
        "error_detail": session.detail,
        "skill_invoked": outcome.skill_used if outcome else None,
        "transcript_missing": "transcript" not in session.outputs,
        "num_turns": outcome.turns if outcome else 0,
        "tool_use_counts": dict(outcome.tool_counts) if outcome else {},
        "usage": dict(outcome.usage) if outcome and outcome.usage is not None else None,
        "duration_s": round(session.seconds, 1),
        "evidence_diagnostics": [*(outcome.diagnostics if outcome else ()), *session.diagnostics],
        "spent_usd": round(outcome.spent_usd, 6) if outcome else 0.0,
        "replayed": bool(outcome and outcome.replayed),
        "engine": params["engine"],
        "model": params.get("model"),
        "effort": params.get("effort"),
        "effort_sent": dict(outcome.effort_sent) if outcome and outcome.effort_sent else None,
        "backing": session.backing,
        "pressure": session.pressure,
        "measured_at": session.measured_at,
        "workspace_changed": session.changed,
        "setup": session.setup,
        "priced_model": session.priced_model,
    }
    body = _plain(redactor.value(body))
    if session.kind == "cancelled":
        return Made(body, session.outputs, records.NOT_RUN, "cancelled")
    if session.kind in EXCLUDED:
        return Made(body, session.outputs, records.UNUSABLE, f"{session.kind}: {body['error_detail']}"[:400])
    return Made(body, session.outputs)


def _plain(value: Any) -> Any:
    """Without lone surrogates, which an agent's words may hold and canonical JSON cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
