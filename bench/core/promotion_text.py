"""A promotion in words: the table that a reviewer pastes into a pull request, and one line for the end of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.core.gate import KEEP, PROMOTE, Verdict

Document = Mapping[str, Any]
MARKS = {Verdict.PASS: "ok", Verdict.IMPROVED: "ok"}
CELL = 90
"""Characters of one cell of a table."""


def line(document: Document) -> str:
    """`promotion demo/candidate: keep_incumbent: …`."""
    reasons = [reason for one in document["decisions"] for reason in one["reasons"]]
    told = "; ".join(reasons[:3]) + ("; …" if len(reasons) > 3 else "")
    return f"promotion {document['suite']}/{document['candidate']}: {document['decision']}: {told}"


def lines(document: Document) -> list[str]:
    """Markdown: the decision, what it is bound to, per arm its reasons, task figures and every check."""
    head = {PROMOTE: "promote", KEEP: "keep the incumbent"}.get(document["decision"], "not enough evidence")
    found = [
        f"## {document['suite']}/{document['candidate']}: {head}",
        "",
        f"model {document['benchmark_model']}, effort {document['effort']}, measured until {document['generated_at']}, "
        f"valid until {document['evidence_expires_at']}, sweep {document['run_status']}",
    ]
    for one in document["decisions"]:
        found += ["", *_arm(one, document["policy"][one["candidate_arm"]])]
    return found


def _arm(one: Mapping[str, Any], bound: Mapping[str, Any]) -> list[str]:
    found = [f"### {one['candidate_arm']} against {one['incumbent_arm']}: {one['decision']}", ""]
    found += [f"- {_plain(reason)}" for reason in one["reasons"]]
    if one.get("metric_warning"):
        found.append(f"- {one['metric']}: {one['metric_warning']}")
    found += ["", *_table(["task", "gated", f"{one['metric']} incumbent", "candidate", "resolved", "change"], _tasks(one))]
    found += ["", *_table(["check", "task", "value", "threshold", "verdict"], _checks(one["checks"]))]
    words = (one.get("statistics") or {}).get("words") or []
    return [*found, "", *(f"- {_plain(text)}" for text in words), "", f"Rule: {bound['quality_rule']}."]


def _tasks(one: Mapping[str, Any]) -> list[list[Any]]:
    rows = []
    for row in one["tasks"]:
        sides = [row["incumbent"] or {}, row["candidate"] or {}]
        solved = " → ".join(f"{side.get('resolved', '?')}/{side.get('valid_runs', '?')}" for side in sides)
        change = row.get("improvement_pct", row.get("improvement"))
        figures = [side.get(one["metric"]) for side in sides]
        rows.append([row["task"], "yes" if row["gated"] else "no", *figures, solved, change])
    return rows


def _checks(checks: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """A row per check; tasks on which it says just the same share one."""
    folded: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for check in checks:
        said = [check[name] for name in ("check", "value", "threshold", "verdict")]
        folded.setdefault(json.dumps(said), (check, []))[1].append(check["task"] or "all")
    return [[c["check"], ", ".join(tasks), c["value"], c["threshold"], _mark(c["verdict"])] for c, tasks in folded.values()]


def _mark(verdict: str) -> str:
    return MARKS.get(Verdict(verdict), f"**{verdict}**")


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    body = [f"| {' | '.join(_cell(value) for value in row)} |" for row in rows]
    return [f"| {' | '.join(_plain(name) for name in head)} |", "|" + "---|" * len(head), *body]


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " / ".join(_cell(item) for item in value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _plain(text if len(text) <= CELL else text[: CELL - 1] + "…")


def _plain(text: str) -> str:
    """One line that Markdown takes as text: what an agent named cannot open a cell, a tag or a link."""
    for sign in "\\`|<>[]":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
