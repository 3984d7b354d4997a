"""What canaries say: rows for who judges the measurement, and a line each for who reads of it."""

from __future__ import annotations

from typing import Any

from bench.core import aggregate, canary
from bench.core.records import Record, sealed


def record(state: str = "final", reason: str | None = None, **body: Any) -> Record:
    return sealed(Record("canary", "s/new/old", "k", {}, {}, state, reason, {}, body))


def suite() -> dict[str, Any]:
    """Of three tasks, the first is not the candidate's."""
    arms = {"t-0": ["old"], "t-1": ["old", "new"], "t-2": ["old", "new"]}
    parts = []
    for task, names in arms.items():
        said = [{"task": task, "class": "bug", "arm": arm, "role": "incumbent", "run": 0} for arm in names]
        parts.append(aggregate.of_task({"task": task, "class": "bug"}, [aggregate.compact(one, None) for one in said]))
    return aggregate.merged(parts, [])


def told(made: Record) -> str:
    [line] = canary.lines({"aggregate": record(), "canary/old/new": made}, "s", suite())
    return line.removeprefix("canary:s/new/old: old on t-1, for the candidate new: ")


def test_every_canary_is_named_with_its_task_outcome_and_cost() -> None:
    assert told(record(spent_usd=0.4)) == "a session that worked; $0.40"
    assert told(record("unusable", "no stream", spent_usd=1)) == "infra-error (no stream); $1.00"
    failed = record(error_kind="skill-not-invoked", error_detail="nothing used mend", spent_usd=0.25)
    assert told(failed) == "skill-not-invoked (nothing used mend); $0.25"
    assert told(record("not_run", "the budget is used up")) == "not run (the budget is used up)"


def test_one_that_stands_for_a_session_is_named_and_judges_nothing() -> None:
    stands = record(stands_for="s/t-1/old/0", spent_usd=0.0)
    assert told(stands) == "stands for session:s/t-1/old/0, measured in the same run; $0.00"
    assert canary.rows({"canary/old/new": stands}, suite()["arms"]) == {}
    assert list(canary.rows({"canary/old/new": record(), "canary/gone/new": record()}, suite()["arms"])) == ["old"]
