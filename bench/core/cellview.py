"""Everything that one cell's page says, as plain values: facts, checks, patch lines and the transcript turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import conversation, plots
from bench.core.records import TOKENS, Record

PATCH_LIMIT = 300_000
"""Bytes of a patch that a page shows (spec 1.4 keeps as many)."""
_KINDS = {"+": "add", "-": "del", "@": "hunk"}
_HEADS = (
    "diff --git ",
    "index ",
    "--- ",
    "+++ ",
    "new file",
    "deleted file",
    "old mode",
    "new mode",
    "rename ",
    "similarity ",
)

Mapped = Mapping[str, Any]


def build(row: Mapped, cell: Record | None, session: Record | None, *, patch: bytes, transcript: bytes) -> dict[str, Any]:
    """The view of a compact row with what is kept of it; records are None and bytes empty where there is nothing."""
    body: Mapped = cell.body if cell else {}
    ran: Mapped = session.body if session else {}
    params: Mapped = session.params if session else {}
    lines, cut = patch_lines(patch)
    phases = list(ran.get("phases") or ())
    turns = conversation.turns(transcript, phases=[(part["phase"], part.get("events") or 0) for part in phases])
    prompt = params.get("prompt")
    said = any((prompt or "").strip() == part["text"].strip() for turn in turns[:3] for part in turn["parts"])
    return {
        "task": row["task"],
        "class": row["class"],
        "arm": row["arm"],
        "role": row["role"],
        "run": row["run"],
        "state": row["state"],
        "verdict": plots.outcome_of(row),
        "error_kind": row.get("error_kind"),
        "reason": body.get("error_detail") or row.get("reason"),
        "replayed": bool(row.get("replayed")),
        "checks": _checks(row, body, phases),
        "phases": [_phase(part) for part in phases],
        "model_calls": dict(ran.get("calls") or {}),
        "facts": {name: body.get(name, ran.get(name)) for name in FACTS},
        "alarms": [dict(alarm) for alarm in body.get("alarms") or ()],
        "diagnostics": list(ran.get("evidence_diagnostics") or ()),
        "pressure": dict(ran.get("pressure") or {}),
        "output": body.get("authored_test_output"),
        "setup": dict(ran.get("setup") or {}),
        "prompt": None if said else prompt,
        "patch": lines,
        "patch_cut": cut,
        "turns": turns,
        "transcript_bytes": len(transcript),
        "digests": _digests(row, cell, session),
    }


FACTS = (
    "model",
    "priced_model",
    "effort",
    "backing",
    "num_turns",
    "duration_s",
    "cost_usd",
    "list_price_usd",
    "spent_usd",
    *TOKENS,
    "diff_files",
    "diff_insertions",
    "diff_deletions",
    "tool_use_counts",
    "measured_at",
)
"""What a page tells of a cell, from the cell's body or else its session's; absent is unknown."""


def _checks(row: Mapped, body: Mapped, phases: Sequence[Mapped]) -> list[dict[str, Any]]:
    """[{name, passed: bool | None, detail}]: authored tests, hidden oracle, skill use. Never an oracle's output."""
    oracle = body.get("oracle")
    detail = None
    if isinstance(oracle, Mapping):
        told = [f"{oracle[name]} {name}" for name in ("passed", "failed") if isinstance(oracle.get(name), int)]
        detail = ", ".join(told) or None
    checks = [
        {"name": "authored tests", "passed": row.get("authored_tests_passed"), "detail": None},
        {"name": "hidden oracle", "passed": row.get("oracle_passed"), "detail": detail},
    ]
    if row.get("skill_invoked") is not None:
        wanted = ", ".join(f"{part['skill']} ({part['phase']})" for part in phases if part.get("skill"))
        checks.append({"name": "expected skill was used", "passed": row["skill_invoked"], "detail": wanted or None})
    return checks


def _phase(part: Mapped) -> dict[str, Any]:
    """One phase's line of the table; absent is unknown."""
    names = ("phase", "skill", "skill_invoked", "turns", "calls", "duration_s", "error_kind")
    return {name: part.get(name) for name in names} | {name: (part.get("usage") or {}).get(name) for name in TOKENS}


def patch_lines(patch: bytes) -> tuple[list[dict[str, str]], int]:
    """[{kind: add | del | hunk | head | same, text}] of a patch, and how many bytes at its end were left out."""
    shown = patch[:PATCH_LIMIT]
    lines = shown.decode("utf-8", "backslashreplace").split("\n")
    if lines[-1] == "":
        lines.pop()
    found = []
    for line in lines:
        kind = "head" if line.startswith(_HEADS) else _KINDS.get(line[:1], "same")
        found.append({"kind": kind, "text": line})
    return found, len(patch) - len(shown)


def _digests(row: Mapped, cell: Record | None, session: Record | None) -> dict[str, str]:
    found: dict[str, str] = {}
    if cell:
        found |= {"cell key": cell.key, "cell content": cell.content}
    if session:
        found |= {"session key": session.key, "session content": session.content}
        found |= {f"session input {name}": value for name, value in sorted(session.inputs.items())}
    return found
