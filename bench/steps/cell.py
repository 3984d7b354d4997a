"""Step `cell`: what a session is worth. Free, and made again from the store alone whenever grading or an oracle changes.

params {verify, verify_s, oracle_s, prices, role, aliases, markers}; inputs {session, template, oracle?, expected?, assets?}
→ body of the reference's outcome fields, outputs {patch}. Order: layers rebuilt, planted files out, authored tests, oracle,
patch and churn, skill, cost, alarms. The body holds no clock, path or random value. A session that left nothing is not
graded.
Where the oracle is review labels, the artifact is scored instead: such a session has no patch, since what its workspace
holds is the change under review.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench.core import (
    alarms,
    asked,
    cost,
    junit,
    labels,
    markers,
    outcome,
    planted,
    review_artifact,
    review_outcome,
    verdict,
)
from bench.core.markers import VARIABLES
from bench.core.outcome import Authored
from bench.core.overrides_sandbox import UNSAFE
from bench.core.records import FINAL, NOT_RUN, Record
from bench.core.suite import CALIBRATION, REVIEW_LABELS
from bench.core.verdict import Ended, Expected, Verdict
from bench.effects import changes as changes_module
from bench.effects import trees
from bench.effects.changes import Changes
from bench.effects.context import Context, Job, Made
from bench.effects.grading import artifacts, on_host, patches, staging, verifiers
from bench.effects.grading.patches import EMPTY, Patch
from bench.effects.grading.staging import Stage
from bench.effects.grading.verifiers import Hidden, Run, View
from bench.effects.sandbox import Finished
from bench.effects.trees import Entry

KIND = "cell"


@dataclass(frozen=True, slots=True)
class Graded:
    """What grading found, before it is put into words."""

    authored: Authored
    oracle: Verdict | None
    patch: Patch
    planted: list[tuple[str, str]]


def make(job: Job, context: Context) -> Made:
    """Grade, or carry the session's own failure through."""
    session = job.inputs["session"]
    changes = _changes(session, context)
    transcript = context.store.get(session.outputs["transcript"].blob) if "transcript" in session.outputs else b""
    common = _carried(session, changes) | _priced(session.body, job.params) | _task(job)
    if _reviews(job):
        return _made(*_review(job, context, changes, common | {"churn_digest": None}, transcript), session)
    if changes is None or not outcome.may_grade(session.state, session.body):
        body = common | outcome.ungraded(session.body, session.state, session.reason) | _churn(None)
        return _made(body | {"alarms": _asked(transcript, session)}, {}, session)
    unready = next((role for role in ("oracle", "expected") if role in job.inputs and job.inputs[role].state != FINAL), None)
    graded = _grade(job, context, changes, with_oracle=unready is None)
    body = common | outcome.graded(session.body, graded.authored, changes.any, graded.oracle) | _churn(graded.patch)
    if unready:
        body |= outcome.unavailable(body, f"the {unready} record is {job.inputs[unready].state}")
    raised = _alarms(job, context, changes, graded, transcript)
    outputs = {"patch": context.store.put(graded.patch.data)}
    return _made(body | {"alarms": raised}, outputs, session)


def _reviews(job: Job) -> bool:
    return "oracle" in job.inputs and labels.is_review(file["target"] for file in job.inputs["oracle"].body.get("files", ()))


def _review(
    job: Job, context: Context, changes: Changes | None, common: dict[str, Any], transcript: bytes
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Body and outputs of a review's cell. The artifact itself is among them: a score is to be checked by hand."""
    session, calibration = job.inputs["session"], job.params["role"] == CALIBRATION
    outputs = {"review": session.outputs["review"]} if "review" in session.outputs else {}
    handed = context.store.get(outputs["review"].blob) if outputs else None
    truth = labels.parse(_labels(job, context), "review-labels.json")
    judged = review_outcome.judge(handed, session.body.get("review"), truth)
    if changes is None or not outcome.may_grade(session.state, session.body):
        scored = review_outcome.unscored(judged) if session.state != NOT_RUN else {}
        body = common | outcome.ungraded(session.body, session.state, session.reason) | _churn(None) | scored
        return body | {"alarms": _asked(transcript, session)}, outputs
    staged = staging.stage(
        context.store, job.inputs["template"], job.inputs.get("assets"), scratch=context.scratch, cancel=context.cancel
    )
    alias = (job.params.get("aliases") or {}).get(review_artifact.VARIABLE)
    hand_in = artifacts.HandIn(review_artifact.FOLDER, review_artifact.NAME, review_artifact.VARIABLE, alias)
    if session.body.get("backing") == UNSAFE:
        # Its evidence is of the host anyway, and a machine without a sandbox could not grade it otherwise.
        seconds = float(job.params["verify_s"])
        authored = _ended(on_host.visible(staged, changes, handed, hand_in, str(job.params["verify"]), seconds))
    else:
        with staging.view(staged, changes) as view, artifacts.shown(view, handed, hand_in, context.scratch) as shown:
            authored = _authored(shown, job.params, context)
    graded = review_outcome.graded(session.body, authored, judged, calibration=calibration)
    names = [*(name for name in VARIABLES if name != review_artifact.VARIABLE), REVIEW_LABELS]
    names += _spoken(job, context, changes, transcript)
    raised = [*_asked(transcript, session), *alarms.of_names(transcript, names)]
    return common | graded | _churn(None) | {"alarms": raised}, outputs


def _labels(job: Job, context: Context) -> bytes:
    return context.store.get(job.inputs["oracle"].outputs[f"file/{REVIEW_LABELS}"].blob)


def _made(body: dict[str, Any], outputs: Mapping[str, Any], session: Record) -> Made:
    state, reason = outcome.state(body, session.state)
    return Made(body, outputs, state, reason)


def _changes(session: Record, context: Context) -> Changes | None:
    blob = session.outputs.get("changes")
    return changes_module.unpack(context.store.get(blob.blob)) if blob else None


def _carried(session: Record, changes: Changes | None) -> dict[str, Any]:
    said = {name: session.body.get(name) for name in outcome.CARRIED}
    return said | {"session_key": session.key, "churn_digest": changes.digest if changes else None}


def _task(job: Job) -> dict[str, Any]:
    """Which revision was worked on, and what graded it, in the reference's names."""
    source, graded = (job.inputs[role].body if role in job.inputs else {} for role in ("template", "oracle"))
    return {
        "task_base_sha": source.get("revision"),
        "sanitized_task_sha": source.get("commit"),
        "oracle_command_digest": graded.get("command_digest"),
        "oracle_manifest_digest": graded.get("manifest_digest"),
    }


def _priced(body: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    usage = body.get("usage")
    dollars = cost.price(usage, params.get("prices"))
    tokens = {name: (usage or {}).get(name) for name in cost.TOKENS}
    return {**tokens, "cost_usd": dollars, "list_price_usd": dollars}


def _churn(patch: Patch | None) -> dict[str, Any]:
    if patch is None:
        return {"diff_files": None, "diff_insertions": None, "diff_deletions": None, "patch_truncated": None}
    return {
        "diff_files": patch.files,
        "diff_insertions": patch.insertions,
        "diff_deletions": patch.deletions,
        "patch_truncated": patch.truncated,
    }


def _grade(job: Job, context: Context, changes: Changes, *, with_oracle: bool) -> Graded:
    params, inputs = job.params, job.inputs
    staged = staging.stage(
        context.store, inputs["template"], inputs.get("assets"), scratch=context.scratch, cancel=context.cancel
    )
    oracle = None
    if "oracle" in inputs and with_oracle:
        oracle = staging.hidden(context.store, inputs["oracle"], params.get("aliases"))
    left_out = planted.found(staged.added(changes), oracle.pythonpath if oracle else ())
    found = None
    with staging.view(staged, changes, remove=tuple(path for path, _ in left_out)) as view:
        authored = _authored(view, params, context)
        if oracle:
            found = _judged(view, oracle, job, staged)
    patch = patches.of_changes(changes, staged.template, staged.commit, cancel=context.cancel) if changes.any else EMPTY
    return Graded(authored, found, patch, left_out)


def _authored(view: View, params: Mapping[str, Any], context: Context) -> Authored:
    seconds = float(params["verify_s"])
    return _ended(verifiers.visible(view, str(params["verify"]), seconds=seconds, cancel=context.cancel))


def _ended(done: Finished) -> Authored:
    return Authored(done.exit, done.limit, done.stdout + done.stderr)


def _judged(view: View, oracle: Hidden, job: Job, staged: Stage) -> Verdict:
    seconds = float(job.params["oracle_s"])
    run = verifiers.hidden(view, oracle, seconds=seconds, scratch=staged.scratch, cancel=staged.cancel)
    ended = Ended(run.exit, run.limit, run.channel)
    if oracle.pytest:
        return verdict.judge(ended, run.nonce, _expected(job))
    if oracle.report == "pytest":
        return verdict.judge_ids(ended, _reported(run), _expected(job))
    return verdict.judge_exit(ended)


def _reported(run: Run) -> list[tuple[str, str]]:
    try:
        return junit.read(run.channel)
    except ValueError:
        return []


def _expected(job: Job) -> Expected | None:
    record = job.inputs.get("expected")
    if record is None:
        return None
    body = record.body
    return Expected(*(frozenset(body[name]) for name in ("ids", "loose", "patched", "probes")))


def _alarms(job: Job, context: Context, changes: Changes, graded: Graded, transcript: bytes) -> list[dict[str, str]]:
    texts = {entry.path: entry.data for entry in changes.entries if entry.mode != "120000"}
    found = [
        *alarms.of_planted(graded.planted),
        *alarms.of_oddities(changes.oddities),
        *alarms.of_attributes(texts),
        *alarms.of_verdict_files(texts, asked.commands(transcript)),
        *_asked(transcript, job.inputs["session"]),
        *alarms.of_names(transcript, _secrets(job, context, changes, transcript)),
        *(alarms.alarm(kind, detail) for kind, detail in (graded.oracle.alarms if graded.oracle else ())),
    ]
    return list({(a["kind"], a["detail"]): a for a in found}.values())


def _asked(transcript: bytes, session: Record) -> list[dict[str, str]]:
    return [*alarms.of_probing(asked.commands(transcript)), *alarms.of_gateway(session.body.get("gateway"))]


def _secrets(job: Job, context: Context, changes: Changes, transcript: bytes) -> list[str]:
    """What only a grader knows: our variables, markers, and files of the oracle that neither template nor session has."""
    said = [*VARIABLES, *_spoken(job, context, changes, transcript)]
    if "oracle" not in job.inputs:
        return said
    known = {entry.path.rpartition("/")[2] for entry in _seen(job, context, changes)}
    names = {str(file["target"]).rpartition("/")[2] for file in job.inputs["oracle"].body["files"]}
    return [*said, *sorted(names - known)]


def _spoken(job: Job, context: Context, changes: Changes, transcript: bytes) -> list[str]:
    """Markers in the transcript that the session did not read in its workspace."""
    found = markers.spoken(transcript.decode("utf-8", "replace"), job.params.get("markers") or ())
    for entry in _seen(job, context, changes) if found else ():
        found = {marker for marker in found if marker not in entry.path and marker.encode() not in entry.data}
    return sorted(found)


def _seen(job: Job, context: Context, changes: Changes) -> Iterator[Entry]:
    yield from changes.entries
    yield from trees.entries_of(context.store.get(job.inputs["template"].outputs["tree"].blob))
