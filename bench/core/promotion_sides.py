"""The two arms of a promotion, task by task, from a suite's aggregate and what its sessions' records say beside.

A side repeats the reference's aggregate (spec 2.2): counts, medians, counters of health. What identifies the evidence stands
with it: models, efforts, contents of inputs, every session and cell. Nothing is judged here, and no row is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.core import digest, health, medians, overrides_sandbox, records
from bench.core.gate import Pair
from bench.core.records import Record
from bench.core.rows import Where, where

CELL_INPUTS = ("template", "oracle", "assets", "expected")
SESSION_INPUTS = ("runtime", "graph", "skill")
SETTINGS = "settings"
"""Beside the contents of inputs: a digest of what a session was asked and allowed."""
OWN = ("role", "run", "replica")
"""Parameters of a session in which two sessions of one task differ by what they are called alone."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """What the records of one run add to its row. `whole` is false where a record is not the one that the row names."""

    whole: bool
    measured_at: str | None = None
    attempts: int = 1
    main_loop_only: bool = False
    """Whether tokens are the engine's own count, which leaves out its helpers."""
    client_turns: bool = False
    """Whether turns are: the gateway counts requests and no turns, so they are the client's figure behind it too."""
    sandbox: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)


def measured(cell: Record | None, session: Record | None) -> Measured:
    """From a run's two records; None = not in the store, or not with the content that the row names."""
    body: Mapping[str, Any] = session.body if session else {}
    given = {name: cell.inputs[name] for name in CELL_INPUTS if name in cell.inputs} if cell else {}
    given |= {name: session.inputs[name] for name in SESSION_INPUTS if name in session.inputs} if session else {}
    if session is not None:
        asked = {name: value for name, value in session.params.items() if name not in OWN}
        given[SETTINGS] = digest.of("assay/session-settings/1", asked)
    gateway = body.get("gateway") or {}
    clients = body.get("engine") == "claude"
    return Measured(
        whole=cell is not None and session is not None,
        measured_at=body.get("measured_at"),
        attempts=records.attempts(session) if session else 1,
        main_loop_only=clients and gateway.get("usage") is None,
        client_turns=clients,
        sandbox=overrides_sandbox.backend(body.get("backing")) if session else None,
        inputs=given,
    )


def pairs(
    aggregate: Mapping[str, Any],
    found: Mapping[Where, Measured],
    tasks: Sequence[tuple[str, str]],
    arms: tuple[str, str],
    reused: Collection[str] = (),
) -> list[Pair]:
    """One pair per selected task (id, class), in their order. `arms` are (incumbent, candidate); of those that
    are `reused` only rows that failed are fresh (`health`)."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in aggregate["rows"]:
        rows.setdefault((row["task"], row["arm"]), []).append(row)
    return [
        Pair(task, cls, *(side(rows.get((task, arm), []), found, fresh=arm not in reused) for arm in arms))
        for task, cls in tasks
    ]


def side(rows: Sequence[Row], found: Mapping[Where, Measured], *, fresh: bool = True) -> dict[str, Any] | None:
    """One arm on one task, or None without rows. The order of rows decides nothing; where it is not `fresh`, only its
    failures are new."""
    if not rows:
        return None
    rows = sorted(rows, key=lambda row: row["run"])
    new = rows if fresh else [row for row in rows if health.failed(row)]
    counted, begun, good = medians.counts(rows, new), medians.attempts(rows), medians.valid(rows)
    known = {row["run"]: found.get(where(row), Measured(False)) for row in rows}
    names = {
        "valid_runs": counted["valid"],
        "excluded_runs": counted["excluded"],
        **{name: counted[name] for name in ("planned", "runs", "not_run", "resolved", "resolved_fresh", "error_kinds")},
    }
    return (
        {name: rows[0][name] for name in ("task", "class", "arm", "role")}
        | names
        | health.counters(new)
        | medians.summary(rows)
        | {
            "attempts": sum(known[row["run"]].attempts for row in begun),
            "models": _unique(row.get("model") for row in good),
            "efforts": _unique(row.get("effort") for row in good),
            "inputs": _inputs([known[row["run"]] for row in good]),
            "evidence": [_named(row, known[row["run"]], good) for row in rows],
        }
    )


def _unique(values: Any) -> list[Any]:
    return sorted(set(values), key=lambda value: (value is not None, value))


def _inputs(known: Sequence[Measured]) -> dict[str, list[str | None]]:
    """Contents by input over the valid runs; None stands for a run that names none, so that absence shows like a content."""
    names = sorted({name for each in known for name in each.inputs})
    return {name: _unique(each.inputs.get(name) for each in known) for name in names}


def _named(row: Row, known: Measured, good: Sequence[Row]) -> dict[str, Any]:
    """The digests by which one run is found again, and whether it counts."""
    cell, session = row.get("cell") or [None, None], row.get("session") or [None, None]
    said = {"run": row["run"], "state": row["state"], "valid": row in good, "cell": cell[1], "session": session[1]}
    return said | {"measured_at": known.measured_at, "attempts": known.attempts}
