"""`doit apply:<suite>/<candidate>`: a promoted candidate goes into the working tree, all files or none (spec section 5).

It runs no step and pays for nothing: evidence that is not up to date is refused. The decision is computed again from the
promotion's own numbers, the bytes come from the store, which checks their digests, and every file to be replaced must be
the committed one that the incumbent was measured with.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import bench.layout as layout
from bench.core import promotion_check, promotion_scope, targets
from bench.core.overrides_sandbox import UNSAFE
from bench.core.records import Record
from bench.core.suite import Suite
from bench.core.targets import Target
from bench.effects import clock, console, git, trees
from bench.effects.swap import recovery, replacing
from bench.effects.swap.replacing import Replacement
from bench.errors import ApplyFailed, BenchError, UsageError
from bench.make import promotions
from bench.make.decide import decide
from bench.make.pipeline import Pipeline
from bench.make.step import Step
from bench.make.workspace import CLOCK_SLACK

KIND = "apply"
PROMOTION = "promotion"
GATE = "preflight"


def named(words: Sequence[str]) -> list[str]:
    """The applies among the steps of a command line. Raises UsageError when it names other steps as well."""
    found = [word for word in words if word == KIND or word.startswith(f"{KIND}:")]
    if found and len(found) < len(words):
        raise UsageError("apply is not mixed with other steps", where="command line", remedy="run doit twice")
    if KIND in found:
        raise UsageError("apply of what?", where="command line", remedy=f"name a candidate: {KIND}:<suite>/<candidate>")
    return found


def promotion_of(name: str) -> str:
    """The step that an apply rests on."""
    return f"{PROMOTION}:{name.partition(':')[2]}"


def run(pipeline: Pipeline, name: str, closure: Sequence[Step]) -> int:
    """Apply one candidate; `closure` is all that its promotion needs, the promotion last. Gives the exit code.

    Raises ApplyFailed and its like; then nothing is changed, or the recovery file says what is.
    """
    root = pipeline.root
    suite_name, _, candidate = name.partition(":")[2].partition("/")
    _check_words(pipeline, suite_name, candidate)
    before = recovery.recover(root)
    if before:  # what was declared saw the tree as the interrupted apply had left it
        raise ApplyFailed(before, where=name, remedy="nothing else was done; run it again")
    evidence = _current(pipeline, closure)
    document = _document(pipeline, evidence, promotion_of(name))
    wanted = _wanted(pipeline, pipeline.suites[suite_name], document, evidence)
    if {t.path: hashlib.sha256(t.base).hexdigest() for t in wanted} != document["target_base_digests"]:
        raise ApplyFailed("NOT PROMOTED: its target bases are not the files to replace", where=promotion_of(name))
    _check_committed(root, wanted)
    note = {"suite": suite_name, "candidate": candidate, "promotion": evidence[promotion_of(name)].content}
    with replacing.signals_held():  # a change that was made is also journalled and told
        _replace(pipeline, wanted, note)
    return 0


def _replace(pipeline: Pipeline, wanted: Sequence[Target], note: Mapping[str, Any]) -> None:
    kept = replacing.replace_all(pipeline.root, [Replacement(t.path, t.base, t.new) for t in wanted], note)
    pipeline.workspace.journal.write("applied", **note, files=[target.path for target in wanted])
    for target in wanted:
        console.say(f"changed   {console.visible(target.path)}")
    for path in kept:
        console.say_err(
            f"warning: {console.visible(path)}: its old bytes, which lie beside it, were edited or moved meanwhile"
        )
    console.say(f"{note['suite']}/{note['candidate']} is in the working tree; look at `git diff`, and commit it")
    if replacing.interrupted():
        console.say_err("warning: the interrupt came after it was applied, and undoes nothing")


def _check_words(pipeline: Pipeline, suite: str, candidate: str) -> None:
    """Nothing is applied on less than the suite's file asks for. Raises UsageError naming the word."""
    for word, left in promotions.left_out(pipeline, suite, candidate).items():
        what = f"leaves out of the suite's file: {', '.join(left)}"
        raise UsageError(what, where=f"{word}=", remedy=f"apply what was decided on all of it, without {word}=")
    for word in promotion_scope.loosened(pipeline.whole(suite), pipeline.suites[suite]):
        raise UsageError(
            "asks for less than the suite's file", where=f"{word}=", remedy="change it in the file's promotion:"
        )


def _current(pipeline: Pipeline, closure: Sequence[Step]) -> dict[str, Record]:
    """The record of each step. Raises ApplyFailed for the first that is not up to date."""
    found = {}
    for step in closure:
        if step.kind == GATE:
            continue  # it lets sessions start, and says nothing about those that there are
        verdict = decide(pipeline.workspace, step)
        if verdict.action != "reuse" or verdict.record is None:
            wanted = closure[-1].id
            what = f"evidence is not up to date: {step.id} ({verdict.why})"
            raise ApplyFailed(what, where=wanted, remedy=f"run `doit {wanted}` first")
        found[step.id] = verdict.record
    return found


def _document(pipeline: Pipeline, evidence: Mapping[str, Record], name: str) -> Mapping[str, Any]:
    """The promotion `name`, computed again, unexpired, and of sessions that were measured in the sandbox."""
    document: dict[str, Any] = json.loads(pipeline.workspace.store.get(evidence[name].outputs[PROMOTION].blob))
    faults = promotion_check.applicable(document)
    if faults:
        raise ApplyFailed("; ".join(faults), where=name, remedy=f"see `doit {name}`")
    _check_times(document, name)
    for step, record in evidence.items():
        if record.body.get("backing") == UNSAFE:
            what = f"NOT PROMOTED: {step} was measured without a sandbox"
            raise ApplyFailed(what, where=name, remedy="measure it in the sandbox")
    return document


def _check_times(document: Mapping[str, Any], where: str) -> None:
    now = clock.now_utc()
    generated, expires = (clock.parse(document[name]) for name in ("generated_at", "evidence_expires_at"))
    if generated > now + CLOCK_SLACK:
        raise ApplyFailed(f"NOT PROMOTED: it was measured in the future ({generated})", where=where, remedy="set the clock")
    if now >= expires:
        remedy = f"run `doit {where}` to measure again what is too old"
        raise ApplyFailed(
            f"NOT PROMOTED: its evidence expired at {document['evidence_expires_at']}", where=where, remedy=remedy
        )


def _wanted(pipeline: Pipeline, suite: Suite, document: Mapping[str, Any], evidence: Mapping[str, Record]) -> list[Target]:
    """Every file to replace, of all arms that were promoted together: one overlay is one change."""
    overlay: dict[str, bytes] = {}
    base: dict[str, bytes] = {}
    homes: dict[str, str] = {}
    for decision in document["decisions"]:
        arms = [f"{suite.name}/{decision[role]}" for role in ("incumbent_arm", "candidate_arm")]
        incumbent, candidate = (_tree(pipeline, evidence[f"skill:{arm}"]) for arm in arms)
        base |= incumbent
        overlay |= {path: data for path, data in candidate.items() if incumbent.get(path) != data}
        for folder in suite.arm(decision["incumbent_arm"]).skills:
            homes[Path(folder).name] = f"{layout.CORPUS}/{folder}"
    return targets.targets(overlay, base, homes, suite.mirrors)


def _tree(pipeline: Pipeline, skills: Record) -> dict[str, bytes]:
    if "tree" not in skills.outputs:
        raise ApplyFailed("the arm has no skills that could be replaced", where=skills.name)
    return {entry.path: entry.data for entry in trees.entries_of(pipeline.workspace.store.get(skills.outputs["tree"].blob))}


def _check_committed(root: Path, wanted: Sequence[Target]) -> None:
    """What is replaced is in git, so that the diff shows the change and nothing is lost. Raises ApplyFailed naming all."""
    faults = []
    for target in wanted:
        try:
            committed = git.run(["cat-file", "blob", f"HEAD:./{target.path}"], cwd=root)
        except BenchError as error:
            raise ApplyFailed(f"git cannot be asked what is committed ({error.what})", where=target.path) from None
        if committed.exit != 0:
            faults.append(f"{target.path} is not committed")
        elif committed.stdout != target.base:
            faults.append(f"{target.path} was committed with other bytes than were measured")
    if faults:
        remedy = "nothing was changed; commit what was measured, or measure again"
        raise ApplyFailed(f"NOT PROMOTED: {'; '.join(faults)}", where=KIND, remedy=remedy)
