"""`report:<suite>`: report.md, index.html, results.jsonl and a page, patch and transcript per cell. It judges nothing new.

inputs: aggregate, skill/<arm of a plugin>…, canary/<arm>/<candidate>…, promotion/<candidate>…, health?; cells and sessions
are found in the store by the keys that the aggregate holds. params: {suite, profile, arms: [{name, role, of}], model,
effort, runs, refs: {task: git ref}}. body: {summary: lines and table for a console, arms: its rows in full, statistics:
[`stats.compare` of each pair, in brief], notices, …}.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.core import asked, canary, cellview, contrasts, health, overview, pages, rows, summary
from bench.core.records import Blob, Record, attempts
from bench.core.suite import CALIBRATION
from bench.effects.context import Context, Job, Made
from bench.effects.report import text
from bench.effects.report.render import Renderer
from bench.effects.store import Store, pinned

KIND = "report"
REVIEW = ".review.json"
"""Ending of a review's artifact, which lies where the reference's readers look for it: beside results.jsonl."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What is kept of one cell; None and empty where there is nothing."""

    cell: Record | None
    session: Record | None
    patch: bytes
    transcript: bytes


def make(job: Job, context: Context) -> Made:
    """Render everything. Raises IntegrityError where a stored patch or transcript is damaged."""
    aggregate = job.inputs["aggregate"]
    cells = aggregate.body["rows"]
    stems = pages.stems(map(rows.where, cells))
    paged = pages.chosen(cells)
    renderer = Renderer()
    outputs: dict[str, Blob] = {}
    lines, told = [], []
    refs = job.params.get("refs", {})
    for row in cells:
        cell = rows.where(row)
        found = _evidence(row, context.store)
        told.append(_tried(row, found.session))
        kept = _kept(stems[cell], cell, found) if row["role"] != CALIBRATION else {}
        review = next((name for name in kept if name.endswith(REVIEW)), None)
        named = {**row, **_beside(job, row, found), "task_ref": refs.get(row["task"])}
        lines.append(rows.line(rows.row(named, found.cell, found.session, _artifact(kept, found), review)))
        outputs |= kept
        if cell in paged:
            page = cellview.build(row, found.cell, found.session, patch=found.patch, transcript=found.transcript)
            page["suite"] = job.params["suite"]
            outputs[f"cells/{stems[cell]}.html"] = context.store.put(renderer.cell(page))
    linked = {cell: stems[cell] for cell in stems if cell in paged}
    view = overview.build(job.params, {**aggregate.body, "rows": told}, _judged(job), linked)
    view["source"] = aggregate.content
    view["notices"] = [*_decisions(job), *view["notices"]]
    view["health"] = [*view["health"], *canary.lines(job.inputs, job.params["suite"], aggregate.body)]
    outputs["index.html"] = context.store.put(renderer.index(view))
    outputs["report.md"] = context.store.put(renderer.markdown(view))
    outputs["results.jsonl"] = context.store.put(b"".join(lines))
    return Made(_body(job.params, aggregate.body, view), outputs)


def _judged(job: Job) -> Mapping[str, Any]:
    """The health record's body where it is given; without it the same rule, so that nothing needs to wait for that step."""
    given = job.inputs.get("health")
    if given:
        return given.body
    body = job.inputs["aggregate"].body
    return health.of_aggregate(body, canary.rows(job.inputs, body["arms"]))


def _decisions(job: Job) -> list[dict[str, Any]]:
    """What the suite's promotions decided, each in the line that the end of a run shows too."""
    found = [
        record for role, record in sorted(job.inputs.items()) if role.startswith("promotion/") and "line" in record.body
    ]
    return [
        {"level": "info", "title": "Decision", "detail": f"{record.body['line']}; see promotion.json"} for record in found
    ]


def _evidence(row: Mapping[str, Any], store: Store) -> _Evidence:
    cell, session = pinned(store, row.get("cell")), pinned(store, row.get("session"))
    return _Evidence(cell, session, _bytes(cell, "patch", store), _bytes(session, "transcript", store))


def _tried(row: Mapping[str, Any], session: Record | None) -> Mapping[str, Any]:
    """The row with how many sessions were bought for it, where the session's record is there to say so."""
    return {**row, "attempts": attempts(session)} if session else row


def _beside(job: Job, row: Mapping[str, Any], found: _Evidence) -> dict[str, Any]:
    """What a row tells that neither cell nor session say: the plugin that the session ran with, and its commands."""
    skill = job.inputs.get(f"skill/{row['arm']}")
    own = skill is not None and found.session is not None and found.session.inputs.get("skill") == skill.content
    plugin = skill.body.get("plugin") if skill and own else None
    return {"plugin": plugin, "commands": asked.commands(found.transcript)}


def _bytes(record: Record | None, output: str, store: Store) -> bytes:
    return store.get(record.outputs[output].blob) if record and output in record.outputs else b""


def _kept(stem: str, cell: rows.Where, found: _Evidence) -> dict[str, Blob]:
    """The patch and the transcript under names of their own: the same blobs, so they take no further room."""
    kept = {}
    if found.cell and found.patch:
        kept[f"cells/{stem}.patch"] = found.cell.outputs["patch"]
    if found.session and "review" in found.session.outputs:
        kept[pages.review(stem, cell) + REVIEW] = found.session.outputs["review"]
    if found.session and found.transcript:
        kept[f"transcripts/{stem}.jsonl"] = found.session.outputs["transcript"]
    return kept


def _artifact(kept: Mapping[str, Blob], found: _Evidence) -> dict[str, Any] | None:
    name = next((name for name in kept if name.startswith("transcripts/")), None)
    if name is None:
        return None
    return {"name": name, "sha256": hashlib.sha256(found.transcript).hexdigest(), "bytes": len(found.transcript)}


def _body(params: Mapping[str, Any], aggregate: Mapping[str, Any], view: Mapping[str, Any]) -> dict[str, Any]:
    said = summary.said(view["suite"], view["arms"], aggregate, params.get("runs") or 0)
    said += [f"{h['arm']['name']} against {h['against']['name']}: {h['shown']}" for h in view["headlines"] if h["shown"]]
    return {
        "summary": [text.line(line) if isinstance(line, str) else [text.line(cell) for cell in line] for line in said],
        "arms": view["arms"],
        "statistics": [contrasts.brief(pair) for pair in view["statistics"]["pairs"]] if view["statistics"] else [],
        "notices": view["notices"],
        "planned": view["planned"],
        "measured": view["measured"],
        "complete": view["complete"],
        "skipped": view["skipped"],
    }
