"""Rows of results.jsonl, in the reference's names (spec 1.4), so that its users' readers work on ours. Unknown is null.

A planned cell that did not run has a row too (state `not_run`, error_kind `cancelled`): evidence never shrinks unseen.
Digests are ours (`b3:…`) except those of a prompt and a transcript file, which are sha256 as in the reference.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from bench.core import cost, overrides_sandbox
from bench.core.error_kinds import PLAN_INVALID
from bench.core.graph_queries import QUESTIONS
from bench.core.records import NOT_RUN, Record
from bench.core.suite import CANDIDATE

Where = tuple[str, str, int]
"""Task, arm, run."""
IDENTITY = ("task", "class", "run", "arm")
NULL = (
    "proposer_model",
    "variant_head_sha",
    "task_asset_snapshot_digest",
    "task_asset_manifest_digest",
    "sandbox_dependency_manifest_digest",
    "sanitized_graph_manifest_digest",
)
"""Fields of the reference that a row has and that are always null here; docs/migrating.md gives the reason for each."""
TASK = ("task_base_sha", "sanitized_task_sha", "oracle_command_digest", "oracle_manifest_digest")
"""Of the source and the oracle, as a cell says them."""
OUTCOME = (
    "error_detail",
    "authored_tests_passed",
    "authored_test_output",
    "oracle_passed",
    "skill_invoked",
    *cost.TOKENS,
    "cost_usd",
    "duration_s",
    "num_turns",
    "tool_use_counts",
    "diff_files",
    "diff_insertions",
    "diff_deletions",
)
GRAPH_TOOLS = "mcp__graph__"
"""How the names of the graph server's tools begin, whichever indexer serves them."""
GRAPH_COMMAND = re.compile(rf"(?:^|[\n;&|(`])[ \t]*(?:\S*/)?graph[ \t]+(?:{'|'.join(map(re.escape, QUESTIONS))})\b")
Artifact = Mapping[str, Any] | None
OUTPUT_TAIL = 4000
ORACLE_SAID = {True: "oracle passed", False: "oracle failed", None: None}
"""An oracle's output is never kept: these fixed texts stand for it."""


def where(row: Mapping[str, Any]) -> Where:
    """The run that a row is about."""
    return row["task"], row["arm"], row["run"]


def name(row: Mapping[str, Any]) -> str:
    """`task/arm/run`, as a step's name ends."""
    return "/".join(map(str, where(row)))


def row(
    compact: Mapping[str, Any], cell: Record | None, session: Record | None, transcript: Artifact, review: str | None = None
) -> dict[str, Any]:
    """One row. `compact` may also have task_ref, the ref as the suite has it; plugin, the arm's {version, manifest_digest};
    commands, what its session asked its tools to do. `transcript` is {name, sha256, bytes} of the transcript beside the
    report, `review` the artifact's name."""
    body = dict(cell.body) if cell else {}
    ran = dict(session.body) if session else {}
    params = dict(session.params) if session else {}
    given = dict(session.inputs) if session else {}
    judged = dict(cell.inputs) if cell else {}
    held = compact["state"] == NOT_RUN
    found: dict[str, Any] = {name: compact[name] for name in IDENTITY} | dict.fromkeys(NULL)
    said = {name: body.get(name, ran.get(name)) for name in OUTCOME}
    model = ran.get("model") or body.get("model")
    prompt = params.get("prompt")
    plugin = compact.get("plugin") or {}
    found |= {name: body.get(name) for name in TASK} | {"task_ref": compact.get("task_ref")}
    found |= {f"ce_plugin_{name}": plugin.get(name) for name in ("version", "manifest_digest")}
    found |= said | {
        "ok": body.get("ok") is True,
        "resolved": compact["resolved"],
        "error_kind": "cancelled" if held else compact.get("error_kind"),
        "error_detail": said["error_detail"] or compact.get("reason"),
        "authored_test_output": _tail(said["authored_test_output"]),
        "verify_output": _tail(said["authored_test_output"]),
        "oracle_output": ORACLE_SAID.get(said["oracle_passed"]),
        "plan_produced": _planned(session),
        "gitnexus_tool_uses": _graph_uses(said["tool_use_counts"], compact.get("commands", ())),
        "transcript_missing": _missing(body, ran, held),
        "evidence_diagnostics": list(ran.get("evidence_diagnostics") or []),
        "session_ids": [session.key] if session else [],
        "transcript_artifacts": _artifacts(transcript),
        "model": model,
        "benchmark_model": model,
        "effort": ran.get("effort") or body.get("effort"),
        "task_prompt_digest": hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest() if prompt else None,
        "skill_digest": given.get("skill"),
        "candidate_overlay_digest": given.get("skill") if compact["role"] == CANDIDATE else None,
        "runtime_digest": given.get("runtime"),
        "recorded_at": ran.get("measured_at"),
        "sandbox_backend": overrides_sandbox.backend(ran.get("backing")) if session else None,
        "sandbox_dependency_content_digest": judged.get("assets"),
        "sanitized_graph_snapshot_digest": given.get("graph"),
        "oracle_digest": judged.get("oracle"),
    }
    return found | _reviewed(body, review) | _own(compact)


def _own(compact: Mapping[str, Any]) -> dict[str, Any]:
    """What a row has beyond the reference's names."""
    return {
        "role": compact["role"],
        "state": compact["state"],
        "backing": compact.get("backing"),
        "replayed": bool(compact.get("replayed")),
        "spent_usd": compact.get("spent_usd"),
        "list_price_usd": compact.get("list_price_usd"),
        "alarms": list(compact.get("alarms", ())),
    }


def _reviewed(body: Mapping[str, Any], artifact: str | None) -> dict[str, Any]:
    if "review_evidence_valid" not in body:
        return {}
    return {name: value for name, value in body.items() if name.startswith("review_")} | {"review_artifact": artifact}


def _artifacts(transcript: Artifact) -> list[dict[str, Any]]:
    if not transcript:
        return []
    source = "parent-captured-stream-json"
    return [{"path": transcript["name"], "sha256": transcript["sha256"], "bytes": transcript["bytes"], "source": source}]


def _planned(session: Record | None) -> bool | None:
    """Whether a planning session left a plan that could be worked on; None where no plan was asked for or looked at."""
    if session is None:
        return None
    told = [session.body.get("error_kind"), *(session.body.get("evidence_diagnostics") or ())]
    if any(str(cause).startswith(PLAN_INVALID) for cause in told):
        return False
    return True if "plan" in session.outputs else None


def _graph_uses(counts: Mapping[str, int] | None, commands: Iterable[str]) -> int | None:
    """Calls of the graph server's tools and of the `graph` command; one in a loop of a shell counts once."""
    if counts is None:
        return None
    tools = sum(times for tool, times in counts.items() if tool.startswith(GRAPH_TOOLS))
    return tools + sum(len(GRAPH_COMMAND.findall(command)) for command in commands)


def _missing(body: Mapping[str, Any], ran: Mapping[str, Any], held: bool) -> bool | None:
    said = body.get("transcript_missing", ran.get("transcript_missing"))
    return None if held or said is None else bool(said)


def _tail(text: object) -> str | None:
    return None if text is None else str(text)[-OUTPUT_TAIL:]


def line(found: Mapping[str, Any]) -> bytes:
    """The row as one line of JSON: ASCII, and with no text that a terminal or a CI runner would obey."""
    said = json.dumps(found, sort_keys=True, ensure_ascii=True, allow_nan=False)
    # Only inside a string can these stand, where the escape reads back as the same character.
    return said.replace("##[", "\\u0023#[").replace("\x7f", "\\u007f").encode() + b"\n"
