"""Aggregates: every planned cell is counted, merging loses nothing, incomplete says so (public report 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bench.core import aggregate, digest
from bench.core.records import Blob, Record, sealed


def cell(state: str = "final", reason: str | None = None, **body: Any) -> Record:
    said = {"resolved": False, "session_key": digest.of_bytes(b"session")} | body
    return sealed(
        Record(
            kind="cell",
            name="s/t/a/0",
            key=digest.of_bytes(b"cell"),
            inputs={"session": digest.of_bytes(b"content")},
            params={},
            state=state,
            reason=reason,
            outputs={"patch": Blob(digest.of_bytes(b""), 0)},
            body=said,
        )
    )


def identity(arm: str = "a", run: int = 0, role: str = "incumbent", task: str = "t") -> dict[str, Any]:
    return {"task": task, "class": "trivial", "arm": arm, "role": role, "run": run}


def test_a_compact_row_leaves_out_what_is_unknown() -> None:
    record = cell(
        cost_usd=None, num_turns=0, error_kind=None, resolved=True, alarms=[{"kind": "marker", "detail": "x" * 999}]
    )
    row = aggregate.compact(identity(), record)
    assert "cost_usd" not in row
    assert row["num_turns"] == 0
    assert row["resolved"] is True
    assert row["cell"] == [record.key, record.content]
    assert row["session"] == [digest.of_bytes(b"session"), digest.of_bytes(b"content")]
    assert len(row["alarms"][0]["detail"]) == aggregate.DETAIL
    assert row["churn_digest"] == record.outputs["patch"].blob


def test_a_missing_record_is_not_run_and_a_bare_unusable_one_is_infra() -> None:
    assert aggregate.compact(identity(), None)["state"] == "not_run"
    row = aggregate.compact(identity(), replace(cell("unusable", "the verifier broke"), body={}))
    assert (row["error_kind"], row["reason"]) == ("infra-error", "the verifier broke")


def body(task: str = "t", *, candidate: bool = False) -> dict[str, Any]:
    rows = [
        aggregate.compact(identity("a", 0, task=task), cell(resolved=True, cost_usd=0.2)),
        aggregate.compact(identity("a", 1, task=task), cell("unusable", "timed out", error_kind="session-error")),
        aggregate.compact(identity("b", 0, "candidate" if candidate else "comparator", task=task), cell(cost_usd=0.1)),
        aggregate.compact(identity("b", 1, "candidate" if candidate else "comparator", task=task), None),
    ]
    return aggregate.of_task({"task": task, "class": "trivial"}, rows)


def test_an_incomplete_aggregate_says_so() -> None:
    found = body()
    assert (found["measured"], found["planned"], found["complete"]) == (3, 4, False)
    assert found["arms"]["a"]["excluded"] == 1
    assert found["arms"]["b"]["not_run"] == 1
    assert found["groups"][0]["medians"]["cost_usd"] == 0.2


def test_merging_keeps_every_row_and_adds_the_counts() -> None:
    merged = aggregate.merged([body("t"), body("u")], ["slow"])
    assert [task["task"] for task in merged["tasks"]] == ["t", "u"]
    assert merged["arms"]["a"]["runs"] == 4
    assert merged["arms"]["a"]["resolved"] == 2
    assert len(merged["rows"]) == merged["planned"] == 8
    assert merged["skipped"] == ["slow"]
    assert [warning["kind"] for warning in merged["warnings"]] == []


def test_merging_is_associative() -> None:
    parts = [body(name) for name in ("t", "u", "v")]
    nested = aggregate.merged([aggregate.merged(parts[:2], ["x"]), parts[2]], ["y"])
    assert nested == aggregate.merged(parts, ["x", "y"])


def test_fresh_resolutions_are_the_candidates_where_there_is_one() -> None:
    alone, paired = body()["arms"], body(candidate=True)["arms"]
    assert alone["a"]["resolved_fresh"] == 1
    assert paired["a"]["resolved_fresh"] == 0


def test_the_body_is_canonical_json() -> None:
    assert digest.canonical(aggregate.merged([body()], []))
