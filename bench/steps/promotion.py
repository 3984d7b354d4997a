"""`promotion:<suite>/<candidate>`: whether a candidate replaces its incumbent, with every number. It fails nothing itself.

inputs: aggregate, canary/<arm>/<candidate>…, skill/<arm>…, oracle/<task>…, template/<task>…; cells and sessions are found in
the store by the keys that the aggregate holds. params: {suite, profile, candidate, pairs: [[incumbent, candidate]…],
comparators, tasks: [binding…], thresholds, acknowledge, max_age_days, overlay, homes}. body {decision, reasons, lines, …},
outputs {promotion}.
A record that a valid row names and the store does not hold leaves the step unusable, so that it looks again next time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from bench.core import canary, gate_statistics, health, promotion, promotion_facts, promotion_sides, promotion_text, stats
from bench.core.gate import Pair
from bench.core.promotion_sides import Measured, Where
from bench.core.records import FINAL, UNUSABLE, Record
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
    tasks = [(task["id"], task["class"]) for task in params["tasks"]]
    pairs = {arms[1]: promotion_sides.pairs(aggregate, found, tasks, (arms[0], arms[1]), reused) for arms in params["pairs"]}
    compared = {arms[1]: _compared(aggregate, found, params, (arms[0], arms[1])) for arms in params["pairs"]}
    return promotion.build(params, facts, pairs, compared, _bound(job, context, pairs[params["candidate"]]))


def _measured(aggregate: Mapping[str, Any], params: Mapping[str, Any], store: Store) -> dict[Where, Measured]:
    arms = {arm for pair in params["pairs"] for arm in pair}
    return {
        promotion_sides.where(row): promotion_sides.measured(
            pinned(store, row.get("cell")), pinned(store, row.get("session"))
        )
        for row in aggregate["rows"]
        if row["arm"] in arms
    }


def _compared(
    aggregate: Mapping[str, Any], found: Mapping[Where, Measured], params: Mapping[str, Any], arms: tuple[str, str]
) -> dict[str, Any] | None:
    """The statistics of a pair, or None where an arm has no rows."""
    tasks = {task["id"] for task in params["tasks"]}
    rows: dict[str, list[dict[str, Any]]] = {arm: [] for arm in arms}
    for row in aggregate["rows"]:
        if row["arm"] in rows and row["task"] in tasks:
            known = found.get(promotion_sides.where(row), Measured(False))
            rows[row["arm"]].append(dict(row) | {"attempts": known.attempts})
    if not all(rows.values()):
        return None
    try:
        return stats.compare(rows[arms[1]], rows[arms[0]], gate_statistics.measures(params["thresholds"]))
    except ImportError:
        # Never without: what a decision says would depend on the machine that makes it.
        remedy = "install assay-bench anew; numpy and scipy are among its parts"
        raise MissingPart("numpy or scipy is not installed, and statistics need them", remedy=remedy) from None


def _bound(job: Job, context: Context, pairs: list[Pair]) -> dict[str, Any]:
    """What other records say about tasks, overlay and plugin, and the content of every input."""
    params = job.params
    incumbent = next(arms[0] for arms in params["pairs"] if arms[1] == params["candidate"])
    before, now = (_skill(job, arm) for arm in (incumbent, params["candidate"]))
    return {
        "selected_tasks": [_binding(task, job, pair) for task, pair in zip(params["tasks"], pairs, strict=True)],
        "ce_plugin": next((found for arm in params["comparators"] if (found := _plugin(_skill(job, arm)))), None),
        "candidate_overlay_digest": now.body.get("digest") if now else None,
        "target_base_digests": _bases(before, now, params["homes"], context.store),
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


def _bases(before: Record | None, now: Record | None, homes: Mapping[str, str], store: Store) -> dict[str, str]:
    """sha256 of the incumbent's bytes of every file that the candidate changes, by its path in the working tree."""
    old, new = _files(before, store), _files(now, store)
    changed = [path for path in sorted(old) if path in new and old[path] != new[path]]
    placed = {path: f"{homes[path.partition('/')[0]]}/{path.partition('/')[2]}" for path in changed}
    return {placed[path]: hashlib.sha256(old[path]).hexdigest() for path in changed}


def _files(record: Record | None, store: Store) -> dict[str, bytes]:
    if record is None or "tree" not in record.outputs:
        return {}
    return {entry.path: entry.data for entry in trees.entries_of(store.get(record.outputs["tree"].blob))}


def _binding(task: Mapping[str, Any], job: Job, pair: Pair) -> dict[str, Any]:
    """What a task was, so that another one of the same name is not taken for it."""
    oracle, template = job.inputs.get(f"oracle/{task['id']}"), job.inputs.get(f"template/{task['id']}")
    known = pair.candidate["inputs"] if pair.candidate else {}
    body: Mapping[str, Any] = oracle.body if oracle is not None else {}
    return dict(task) | {
        "oracle_digest": oracle.content if oracle is not None else None,
        "oracle_command_digest": body.get("command_digest"),
        "oracle_manifest_digest": body.get("manifest_digest"),
        "oracle_files": [{"target": f["target"], "digest": f["digest"], "size": f["bytes"]} for f in body.get("files", ())],
        "resolved_sha": template.body.get("commit") if template is not None else None,
        "sandbox_dependency_content_digest": next(iter(known.get("assets", ())), None),
    }
