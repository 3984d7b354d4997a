"""Step `preflight`: a free scripted session through the whole real path, before the first session of an engine in a suite.

It uses what a session uses: sandbox, relay, gateway, client, a skill, a file handed in by writing and renaming, the graph's
tools, and then an oracle on a frozen view. Its evidence is that all of them worked. When one did not, the reason begins with
the name of the layer, and the sessions behind this gate are held back. It is never an input of a session.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from bench.core import records, review_artifact
from bench.effects import changes, engines
from bench.effects.context import Context, Job, Made
from bench.effects.engines import Engine, Outcome
from bench.effects.grading.artifacts import HandIn
from bench.effects.redact import Redactor, known_secrets
from bench.effects.sandbox import runner
from bench.effects.sessions import handed_in, playing, rehearsal
from bench.effects.sessions.handed_in import Taken
from bench.effects.sessions.rehearsal import Scene
from bench.errors import Cancelled, CorpusError, EnvironmentRefused, MissingPart, StepFailed

KIND = "preflight"

_BY_CALL = ("skill", "artifact", "graph")
"""The script's tool calls in order: what each of them tries."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The layer that is broken, and how that showed."""

    layer: str
    how: str


def make(job: Job, context: Context) -> Made:
    """params {engine}; inputs {runtime} → body {engine, layer, detail, turns, tool_use_counts, skill_invoked}, outputs
    {transcript?}. Unusable with a reason that names the layer; raises what concerns the machine."""
    name = str(job.params["engine"])
    engine = engines.create(name)
    hand_in = HandIn(review_artifact.FOLDER, review_artifact.NAME, review_artifact.VARIABLE)
    redactor = Redactor(known_secrets(), playing.hidden(context))
    scene, outcome, fault = None, None, None
    try:
        scene = rehearsal.build(context, engine, hand_in)
        fault = _gateway(scene, engine, context)
        if fault is None:
            outcome = _play(scene, engine)
            fault = _judge(scene, engine, outcome, context) or _after(scene)
    except (StepFailed, CorpusError) as error:
        fault = Fault("sandbox" if outcome is None else "oracle", str(error))
    finally:
        if scene is not None:
            rehearsal.discard(scene)
    detail = redactor.text(fault.how) if fault else None
    body: dict[str, Any] = {"engine": name, "layer": fault.layer if fault else None, "detail": detail}
    outputs = {}
    if outcome is not None:
        body |= {"turns": outcome.turns, "tool_use_counts": dict(outcome.tool_counts), "skill_invoked": outcome.skill_used}
        outputs["transcript"] = context.store.put(outcome.transcript)
    if fault is None:
        return Made(body, outputs)
    return Made(body, outputs, records.UNUSABLE, f"{fault.layer}: {body['detail']}"[:400])


def _gateway(scene: Scene, engine: Engine, context: Context) -> Fault | None:
    """Whether the gateway answers a call of ours, before a client is left waiting for it."""
    if not engine.client:
        return None
    if context.gateway is None:
        raise MissingPart("there is no model gateway", remedy="run it by doit")
    try:
        door = context.gateway().open(rehearsal.ask(scene))
    except (MissingPart, Cancelled):
        raise
    except EnvironmentRefused as error:
        return Fault("gateway", str(error))
    try:
        wrong = rehearsal.knock(door)
    finally:
        door.close()
    return Fault("gateway", wrong) if wrong else None


def _play(scene: Scene, engine: Engine) -> Outcome:
    try:
        engine.open(scene.work, scene.room)
        outcome = engine.run()
    finally:
        engine.close()
    if outcome.error_kind == "cancelled":
        raise Cancelled("the rehearsal was cancelled")
    return outcome


def _judge(scene: Scene, engine: Engine, outcome: Outcome, context: Context) -> Fault | None:
    """The first thing that went wrong in the session."""
    detail = outcome.error_detail or outcome.error_kind or ""
    if not any(call.get("status") == "ok" for call in outcome.calls):
        return _unanswered(scene, engine, context, detail or "no model call was answered")
    for layer, (failed, said) in zip(_BY_CALL, _results(outcome.transcript), strict=False):
        if failed:
            alone = rehearsal.stands(scene)
            return Fault("sandbox", alone) if alone else Fault(layer, said or detail)
    if outcome.skill_used is not True:
        return Fault("skill", "; ".join(outcome.diagnostics) or detail or "the session does not show that it was used")
    taken = handed_in.take(scene.folder, review_artifact.NAME, review_artifact.LIMIT)
    if taken.data != rehearsal.HANDED_IN:
        return Fault("artifact", _not_taken(taken))
    if outcome.error_kind is not None:
        return Fault("cli", detail)
    return None


def _unanswered(scene: Scene, engine: Engine, context: Context, detail: str) -> Fault:
    """Which layer kept every model call from being answered: from the inside out, each without the next one."""
    wrong = rehearsal.stands(scene)
    if wrong:
        return Fault("sandbox", wrong)
    if engine.client and context.gateway is not None:
        door = context.gateway().open(rehearsal.ask(scene))
        try:
            wrong = rehearsal.through_relay(scene, door)
        finally:
            door.close()
        if wrong:
            return Fault("relay", wrong)
    return Fault("cli", detail)


def _after(scene: Scene) -> Fault | None:
    """What comes after every session: its workspace is read back, and an oracle is mounted."""
    if changes.collect(scene.table.workspace, cancel=scene.stage.cancel).any:
        return Fault("sandbox", "the workspace was changed, and nothing in the script does that")
    runner.discard(scene.table.workspace)
    wrong = rehearsal.oracle(scene)
    return Fault("oracle", wrong) if wrong else None


def _results(transcript: bytes) -> list[tuple[bool, str]]:
    """(whether it failed, what it said) of each tool result, in order."""
    found = []
    for line in transcript.splitlines():
        message = json.loads(line).get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_result":
                found.append((block.get("is_error") is True, _said(block.get("content"))))
    return found


def _said(content: Any) -> str:
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text", "") if isinstance(part, dict) else str(part) for part in parts]
    return " ".join(" ".join(texts).split())[:200]


def _not_taken(taken: Taken) -> str:
    if taken.problem:
        return f"what was handed in is {taken.problem} {taken.words}".strip()
    return "what was handed in is not what was written"
