from __future__ import annotations

import pytest

from bench.core import phases
from bench.core.phases import PLAN_FILE, plan_fault, review_fault, strayed

NOTHING: dict[str, str] = {}
PLANNED = {PLAN_FILE: "100644 b3:1"}


def test_a_plan_and_nothing_else() -> None:
    assert plan_fault(NOTHING, PLANNED, b"Do it.") is None
    assert plan_fault({"made-by-setup": "1"}, {"made-by-setup": "1"} | PLANNED, b"Do it.") is None


@pytest.mark.parametrize(
    ("after", "plan", "fault"),
    [
        (NOTHING, None, "no plan was written to"),
        ({"src/a.py": "1"}, None, "changed instead: src/a.py"),
        (PLANNED | {"src/a.py": "1"}, b"x", "more than its plan: src/a.py"),
        (PLANNED | {"docs/plans/second.md": "1"}, b"x", "docs/plans/second.md"),
        (PLANNED | {"README": "gone"}, b"x", "README"),
        (PLANNED, b" \n", "the plan is empty"),
        (PLANNED, b"\xff", "not UTF-8"),
        (PLANNED, b"x" * (phases.PLAN_BYTES + 1), "longer than"),
    ],
)
def test_what_is_wrong_with_a_plan(after: dict[str, str], plan: bytes | None, fault: str) -> None:
    assert fault in str(plan_fault(NOTHING, after, plan))


def test_a_plan_that_was_there_before_is_none() -> None:
    assert "left as it was" in str(plan_fault(PLANNED, PLANNED, b"old"))


def test_a_review_changes_nothing() -> None:
    assert review_fault({"a": "1"}, {"a": "1"}) is None
    assert "a, b" in str(review_fault({"a": "1"}, {"b": "2"}))


def test_the_clients_own_traces_are_ignored_where_they_were_seen_and_nowhere_else() -> None:
    # Run 29861768554 of the reference: such files inside a package failed 13 of 18 sessions.
    seen = {".claude/.cc-writes/1": "x", "pkg/sub/.claude/.cc-writes/2": "x"}
    assert strayed(NOTHING, seen) == []
    other = {".claude/settings.local.json": "x", ".claude/skills/a/SKILL.md": "x", ".claude/.cc-writes-not": "x"}
    assert strayed(NOTHING, other) == sorted(other)


def test_many_paths_are_counted() -> None:
    assert "and 5 more" in str(review_fault(NOTHING, {f"f{n}": "x" for n in range(10)}))
