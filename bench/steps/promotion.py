"""`promotion:<suite>/<candidate>`: whether a candidate replaces its incumbent, with every number. It fails nothing itself.

inputs: aggregate, canary/<arm>/<candidate>…, skill/<arm>…, oracle/<task>…, template/<task>…, assets/<task>…; cells and
sessions are found in the store by the keys that the aggregate holds. params: {suite, profile, candidate, pairs: [[incumbent,
candidate]…], comparators, tasks: [binding with candidate_arms…], thresholds: {candidate: …}, left_out, acknowledge,
max_age_days, overlay, homes, mirrors: [[directory, skills | null]…]}. body {decision, reasons, …}, outputs {promotion}.
A record that a valid row names and the store does not hold leaves the step unusable, so that it looks again next time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import (
    canary,
    digest,
    gate_statistics,
    health,
    promotion,
    promotion_facts,
    promotion_sides,
    promotion_text,
    skills,
    stats,
    targets,
)
from bench.core.gate import Pair
from bench.core.promotion_sides import Measured
from bench.core.records import FINAL, UNUSABLE, Record
from bench.core.rows import Where, where
from bench.core.suite import Mirror
from bench.effects import trees
from bench.effects.context import Context, Job, Made
from bench.effects.report import text
from bench.effects.store import Store, pinned
from bench.errors import MissingPart

KIND = "promotion"
FILE = "promotion.json"
EMPTY: Mapping[str, Any] = {
    "tasks": [],
    "rows": [],
    "alarms": [],
    "arms": {},
    "arm_order": [],
    "planned": 0,
    "measured": 0,
    "complete": False,
}
"""An aggregate that is not there."""


def make(job: Job, context: Context) -> Made:
    """Look up, judge, write. Raises MissingPart when statistics cannot be made."""
    found = document(job, context)
    lines = [text.line(line) for line in promotion_text.lines(found)]
    context.log(text.line(promotion_text.line(found)))
    body = {
        "decision": found["decision"],
        "line": text.line(promotion_text.line(found)),
        "lines": lines,
        "decisions": [{name: one[name] for name in ("candidate_arm", "decision", "reasons")} for one in found["decisions"]],
        "generated_at": found["generated_at"],
        "evidence_expires_at": found["evidence_expires_at"],
        "run_status": found["run_status"],
    }
    outputs = {"promotion": context.store.put(to_bytes(found))}
    lost = found["evidence"]["lost"]
    if lost:
        return Made(body, outputs, UNUSABLE, f"evidence is not in the store: {', '.join(lost[:5])}")
    return Made(body, outputs)


def to_bytes(found: Mapping[str, Any]) -> bytes:
    """The file: sorted keys, one level of indent, UTF-8, a final newline."""
    return json.dumps(found, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1).encode() + b"\n"


def document(job: Job, context: Context) -> dict[str, Any]:
    """promotion.json from the step's inputs and the store alone."""
    given, params = job.inputs.get("aggregate"), job.params
    aggregate = given.body if given is not None and given.state == FINAL else EMPTY
    canaries = canary.rows(job.inputs, aggregate["arms"])
    judged, reused = health.of_aggregate(aggregate, canaries), health.reused(aggregate["arms"], canaries)
    found = _measured(aggregate, params, context.store)
    facts = promotion_facts.facts(aggregate, judged, found, params)
    pairs, compared = {}, {}
    for incumbent, candidate in params["pairs"]:
        tasks = [(task["id"], task["class"]) for task in params["tasks"] if candidate in task["candidate_arms"]]
        pairs[candidate] = promotion_sides.pairs(aggregate, found, tasks, (incumbent, candidate), reused)
        compared[candidate] = _compared(aggregate, found, params, (incumbent, candidate))
    return promotion.build(params, facts, pairs, compared, _bound(job, context, pairs))


def _measured(aggregate: Mapping[str, Any], params: Mapping[str, Any], store: Store) -> dict[Where, Measured]:
    arms = {arm for pair in params["pairs"] for arm in pair}
    return {
        where(row): promotion_sides.measured(pinned(store, row.get("cell")), pinned(store, row.get("session")))
        for row in aggregate["rows"]
        if row["arm"] in arms
    }


def _compared(
    aggregate: Mapping[str, Any], found: Mapping[Where, Measured], params: Mapping[str, Any], arms: tuple[str, str]
) -> dict[str, Any] | None:
    """The statistics of a pair, or None where an arm has no rows."""
    tasks = {task["id"] for task in params["tasks"] if arms[1] in task["candidate_arms"]}
    rows: dict[str, list[dict[str, Any]]] = {arm: [] for arm in arms}
    for row in aggregate["rows"]:
        if row["arm"] in rows and row["task"] in tasks:
            known = found.get(where(row), Measured(False))
            rows[row["arm"]].append(dict(row) | {"attempts": known.attempts})
    if not all(rows.values()):
        return None
    try:
        return stats.compare(rows[arms[1]], rows[arms[0]], gate_statistics.measures(params["thresholds"][arms[1]]))
    except ImportError:
        # Never without: what a decision says would depend on the machine that makes it.
        remedy = "install assay-bench anew; numpy and scipy are among its parts"
        raise MissingPart("numpy or scipy is not installed, and statistics need them", remedy=remedy) from None


def _bound(job: Job, context: Context, pairs: Mapping[str, Sequence[Pair]]) -> dict[str, Any]:
    """What other records say about tasks, overlay and plugin, and the content of every input."""
    params = job.params
    plugins = (found for arm in params["comparators"] if (found := _plugin(_skill(job, arm))))
    return {
        "selected_tasks": [_binding(task, job, context.store, pairs) for task in params["tasks"]],
        "ce_plugin": next(plugins, None),
        "candidate_overlay_digest": _overlay(job),
        "target_base_digests": _bases(job, context.store),
        "inputs": {role: record.content for role, record in sorted(job.inputs.items())},
    }


def _skill(job: Job, arm: str) -> Record | None:
    record = job.inputs.get(f"skill/{arm}")
    return record if record is not None and record.state == FINAL else None


def _plugin(record: Record | None) -> dict[str, Any] | None:
    said = record.body.get("plugin") if record else None
    if not said:
        return None
    counted = {"manifest_schema_version": 1, "file_count": said["files"], "total_bytes": said["bytes"]}
    return {name: said[name] for name in ("name", "version", "manifest_digest")} | counted


def _overlay(job: Job) -> str | None:
    """One digest of the overlay's own files, wherever they are laid: the same for every arm that carries it."""
    prefix = f"file:{skills.OVERLAY}/"
    files = {
        role.removeprefix(prefix).removeprefix(skills.INSTALLED): content
        for _, candidate in job.params["pairs"]
        if (record := _skill(job, candidate)) is not None
        for role, content in record.inputs.items()
        if role.startswith(prefix)
    }
    return digest.of("assay/overlay/1", files) if files else None


def _bases(job: Job, store: Store) -> dict[str, str]:
    """sha256 of the incumbents' bytes of every file that the overlay changes, by its paths in the working tree."""
    mirrors = [Mirror(folder, None if carried is None else frozenset(carried)) for folder, carried in job.params["mirrors"]]
    found: dict[str, str] = {}
    for incumbent, candidate in job.params["pairs"]:
        old, new = (_files(_skill(job, arm), store) for arm in (incumbent, candidate))
        for path in old:
            if path in new and old[path] != new[path]:
                base = hashlib.sha256(old[path]).hexdigest()
                found |= dict.fromkeys(targets.places(path, job.params["homes"], mirrors), base)
    return found


def _files(record: Record | None, store: Store) -> dict[str, bytes]:
    if record is None or "tree" not in record.outputs:
        return {}
    return {entry.path: entry.data for entry in trees.entries_of(store.get(record.outputs["tree"].blob))}


def _binding(task: Mapping[str, Any], job: Job, store: Store, pairs: Mapping[str, Sequence[Pair]]) -> dict[str, Any]:
    """What a task was, so that another one of the same name is not taken for it."""
    oracle, template, assets = (job.inputs.get(f"{kind}/{task['id']}") for kind in ("oracle", "template", "assets"))
    body: Mapping[str, Any] = oracle.body if oracle is not None else {}
    sides = (pair.candidate for found in pairs.values() for pair in found if pair.task == task["id"])
    known: Mapping[str, Any] = next((side["inputs"] for side in sides if side is not None), {})
    depends = {name: assets.body.get(name) for name in ("distributions", "mounts")} if assets is not None else None
    return dict(task) | {
        "oracle_digest": oracle.content if oracle is not None else None,
        "oracle_command_digest": body.get("command_digest"),
        "oracle_manifest_digest": body.get("manifest_digest"),
        "oracle_files": [_sealed(file, oracle, store) for file in body.get("files", ())] if oracle is not None else [],
        "resolved_sha": template.body.get("commit") if template is not None else None,
        "sandbox_dependency_content_digest": next(iter(known.get("assets", ())), None),
        "sandbox_dependency_manifest_digest": digest.of("assay/dependencies/1", depends) if depends else None,
    }


def _sealed(file: Mapping[str, Any], oracle: Record, store: Store) -> dict[str, Any]:
    """A sealed file by the digest that the reference gives, and by ours."""
    sha256 = hashlib.sha256(store.get(oracle.outputs[f"file/{file['target']}"].blob)).hexdigest()
    return {"target": file["target"], "sha256": sha256, "size": file["bytes"], "digest": file["digest"]}
