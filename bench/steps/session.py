"""The paid step: one agent works on one task in a sandbox, in one phase or several, and what it did is kept.

Order: layers, setup, then skills and graph read-only, phase after phase in the same layers, death of every process, changes
read back, layers gone. An agent that failed is evidence like any other; only a session that shows nothing is `unusable`.
Nothing here grades, and no oracle is anywhere near. The layers are discarded whatever happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.core import digest, error_kinds, phases, records, review_artifact
from bench.core.review_artifact import Fault
from bench.effects import cassettes, clock, engines
from bench.effects.changes import Changes
from bench.effects.context import Context, Job, Made
from bench.effects.engines import Work
from bench.effects.grading import staging
from bench.effects.pressure import PressureWatch
from bench.effects.redact import Redactor, known_secrets
from bench.effects.sandbox import WORKSPACE, Finished
from bench.effects.sessions import grounds, handed_in, playing, prompts, shown
from bench.effects.sessions.account import Account, Phase
from bench.effects.sessions.grounds import Ground
from bench.effects.sessions.handed_in import Taken
from bench.effects.sessions.shown import Shown
from bench.effects.trees import Entry
from bench.errors import BenchError, Cancelled, CorpusError, StepFailed

KIND = "session"

LINK = "120000"
COPY = "copy/"
"""Role of a file of `sandbox_copy`: `copy/<path in the workspace>`."""
TAIL = 600
"""Characters kept of a setup's last words."""


def make(job: Job, context: Context) -> Made:
    """params {engine, role, prompt, setup, model, effort, run, limits, phases, expected_skills, skill_tool, sandbox?,
    engine_params}; inputs {template, graph?, assets?, skill?, gold?}; files {cassette?, patch?, copy/<path>…} → body of the
    reference's outcome fields, outputs {transcript, changes, calls?, recording?, plan?, review?}. Raises what concerns the
    machine; what concerns the session is in the body."""
    redactor = Redactor(known_secrets(), playing.hidden(context))
    source, assets = job.inputs["template"], job.inputs.get("assets")
    staged = staging.stage(context.store, source, assets, scratch=context.scratch, cancel=context.cancel)
    ground = grounds.create(job.params.get("sandbox"), staged, context)
    account = Account(context.store, ground.backing, clock.stamp())
    watch = PressureWatch()
    try:
        ground.prepare()
        _copy_in(job, context, ground)
        _play(job, context, ground, account)
    except (StepFailed, CorpusError) as error:
        if context.cancel.is_set():  # what is taken away with a stopped run, its gateway too, is no fault of the task
            account.fail("cancelled", "cancelled", "cancelled")
        account.fail("infra-error", "broken-task", str(error))
    except Cancelled:
        account.fail("cancelled", "cancelled", "cancelled")
    finally:
        _discard(ground, account)
    account.pressure = watch.told()
    return _made(job, account, redactor)


def _copy_in(job: Job, context: Context, ground: Ground) -> None:
    """`sandbox_copy`: files that lie beside the source's revision, put into the workspace before anything runs there."""
    roles = sorted(role for role in job.files if role.startswith(COPY))
    entries = [Entry(role.removeprefix(COPY), "100644", context.store.get(job.files[role].blob)) for role in roles]
    if entries:
        ground.copy_in(entries)


def _play(job: Job, context: Context, ground: Ground, account: Account) -> None:
    """Setup, phases, changes: fills the account."""
    case = job.files.get("patch")
    if case:
        grounds.lay_patch(ground, context.store.get(case.blob), float(job.params["limits"]["setup_s"]))
    if job.params.get("setup"):
        done = ground.setup(job.params["setup"], float(job.params["limits"]["setup_s"]))
        if not _set_up(done, account):
            return
    told = shown.of(job.inputs, engines.create(job.params["engine"]), context.store, context.scratch)
    asked = _phases(job)
    # What a working session starts from does not matter to it, and looking costs a start of the sandbox.
    before = start = ground.seen() if case or asked != (phases.WORK,) else None
    if len(asked) > 1:
        ground.keep_homes()
    found = None
    for phase in asked:
        _phase(job, context, (ground, told), phase, account)
        if account.kind == "cancelled":
            return
        found = ground.seen()
        if before is not None:
            _boundary(phase, before, found, account)
        if account.kind is not None:
            break
        before = found
    assert found is not None, "an arm has a phase"
    if phases.PLAN in asked:
        found = found.without(phases.PLAN_FILE)
    account.changed = found.any if start is None else found.listed() != start.without(phases.PLAN_FILE).listed()
    account.outputs["changes"] = context.store.put(found.pack())


def _phases(job: Job) -> tuple[str, ...]:
    gold = job.inputs.get("gold")
    if "phases" not in job.params and gold and "review" in gold.outputs:
        return (phases.REVIEW,)
    return tuple(job.params.get("phases") or (phases.WORK,))


def _set_up(done: Finished, account: Account) -> bool:
    tail = (done.stdout + done.stderr).decode("utf-8", "replace").strip()[-TAIL:]
    account.setup = {"exit": done.exit, "limit": done.limit, "tail": tail}
    if done.limit == "cancelled":
        raise Cancelled("the setup was cancelled")
    if done.ok:
        return True
    cls = "setup-timeout" if done.limit == "time" else "setup-failed"
    how = f"limit of {done.limit}" if done.limit else f"exit status {done.exit}"
    account.fail("infra-error", cls, f"{cls}: {how}: {tail[-200:]}")
    return False


def _phase(job: Job, context: Context, scene: tuple[Ground, Shown], phase: str, account: Account) -> None:
    """One phase: what it may write beside the workspace, the engine's work, and what it handed in."""
    ground, told = scene
    hand_in, env = None, {}
    if phase == phases.REVIEW:
        hand_in = review_artifact.FOLDER
        env = {review_artifact.VARIABLE: f"{review_artifact.FOLDER}/{review_artifact.NAME}"}
    room = ground.room(told, job.params["limits"], hand_in, env)
    work = _work(job, context, told, phase)
    model = job.params.get("model")
    account.priced_model = cassettes.parse(work.cassette, str(model)).model if work.cassette is not None else model
    engine = engines.create(job.params["engine"])
    began = clock.monotonic()
    try:
        engine.open(work, room)
        # Opening loads libraries and starts the gateway, once per process: that is not the agent's time.
        began = clock.monotonic()
        outcome = engine.run()
    except BaseException:
        account.broken_s = clock.monotonic() - began
        raise
    finally:
        engine.close()
    account.played(Phase(phase, work.expected_skill, outcome, clock.monotonic() - began))
    if phase == phases.REVIEW and account.kind != "cancelled":
        _take_review(ground.take(review_artifact.NAME, review_artifact.LIMIT), account)


def _work(job: Job, context: Context, told: Shown, phase: str) -> Work:
    """What the engine is asked to do."""
    params, gold, cassette = job.params, job.inputs.get("gold"), job.files.get("cassette")
    model, asked = params.get("model"), _phases(job)
    reference = {role: context.store.get(blob.blob) for role, blob in gold.outputs.items()} if gold else {}
    # A calibration engine is given neither prompt nor model.
    prompt = params.get("prompt") or ""
    review = f"{review_artifact.FOLDER}/{review_artifact.NAME}"
    if prompt and asked != (phases.WORK,):
        names = {"plan": f"{WORKSPACE}/{phases.PLAN_FILE}", "review": review, "variable": review_artifact.VARIABLE}
        prompt = prompts.of_phase(phase, prompt, names)
    return Work(
        prompt=prompt,
        model=model,
        effort=params.get("effort"),
        run=int(params.get("run", 0)),
        limits=params["limits"],
        skills=told.skills,
        expected_skill=_expected(params, phase),
        patch=reference.get("patch"),
        review=reference.get("review"),
        hand_in=review if phase == phases.REVIEW else None,
        cassette=context.store.get(cassette.blob) if cassette else None,
        cassette_name=model.partition("/")[2] if model and cassette else None,
        params=params.get("engine_params") or {},
        graph=told.graph,
        session=f"{job.name}/{phase}",
        phase=phase,
        skill_tool=bool(params.get("skill_tool", True)),
        plugin=told.plugin,
        graph_server=told.server,
    )


def _expected(params: Mapping[str, Any], phase: str) -> str | None:
    expected: str | None = (params.get("expected_skills") or {}).get(phase)
    return expected


def _take_review(taken: Taken, account: Account) -> None:
    """Keep what was handed in; what is wrong with it is the first thing that is, in the order of the format."""
    fault: object = None
    if taken.problem == handed_in.ABSENT:
        fault = review_artifact.never_written()
    elif taken.problem == handed_in.UNREADABLE:
        fault = review_artifact.unreadable(taken.words)
    elif taken.data is None:
        fault = review_artifact.not_regular()
    else:
        account.outputs["review"] = account.store.put(taken.data)
        fault = review_artifact.parse(taken.data)
    account.review = {"written": taken.problem != handed_in.ABSENT, "diagnostic": None, "fault": None}
    if isinstance(fault, Fault):
        account.spoiled(fault.kind, fault.text)


def _boundary(phase: str, before: Changes, after: Changes, account: Account) -> None:
    """What a phase was not to change."""
    was, now = before.listed(), after.listed()
    if phase == phases.PLAN:
        plan = next((e.data for e in after.entries if e.path == phases.PLAN_FILE and e.mode != LINK), None)
        if plan is not None:
            account.outputs["plan"] = account.store.put(plan)
        fault = phases.plan_fault(was, now, plan)
        if fault:
            account.fail(error_kinds.PLAN_INVALID, error_kinds.PLAN_INVALID, fault)
    elif phase == phases.REVIEW:
        fault = phases.review_fault(was, now)
        if fault:
            account.spoiled("workspace-changed", fault)


def _discard(ground: Ground, account: Account) -> None:
    """Take the layers away. What cannot be removed becomes the cause, with the first one named behind it (spec 1.4)."""
    try:
        ground.discard()
    except (BenchError, OSError) as error:
        why = error.what if isinstance(error, BenchError) else error.strerror
        primary = f"; primary={account.kind}: {account.detail}" if account.kind else ""
        account.kind, account.cls = "cleanup-failure", "cleanup-failure"
        account.detail = f"the layers could not be removed: {why}{primary}"[:2000]


def _made(job: Job, account: Account, redactor: Redactor) -> Made:
    # Its key too: a cell says whose grading it is, and two sessions that went alike in one second are still two.
    body = digest.encodable(redactor.value(account.body(job.params))) | {"session_key": job.key}
    if account.kind == "cancelled":
        return Made(body, account.outputs, records.NOT_RUN, "cancelled")
    if error_kinds.excluded(body):  # a paid one is bought again within the suite's retries
        why = body["error_detail"] if account.kind in error_kinds.EXCLUDED else body["review"]["diagnostic"]
        kind = account.kind if account.kind in error_kinds.EXCLUDED else error_kinds.REVIEW_INVALID
        return Made(body, account.outputs, records.UNUSABLE, f"{kind}: {why}"[:400])
    return Made(body, account.outputs)
