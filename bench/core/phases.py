"""The phases of an arm's sessions and what each may change of the workspace. Pure.

A review leaves the workspace as it was, planning adds or changes its one plan file, working may do anything. What the
client itself leaves is ignored at the very places where it was seen, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping

PLAN, WORK, REVIEW = "plan", "work", "review"
PLAN_FILE = "docs/plans/implementation-plan.md"
"""Where a planning session writes, relative to the workspace; the session that works on it is told the same path."""
PLAN_BYTES = 256 << 10
WRITES = ".claude/.cc-writes"
"""A directory that the client was seen to leave at any depth, and all that it was."""
NAMED = 5
"""Paths named in a diagnostic at most."""
Tree = Mapping[str, str]
"""Path → digest of mode and content, of whatever differs from the template; a deletion has the empty digest."""


def noise(path: str) -> bool:
    """Whether a path is the client's own."""
    return path.startswith(f"{WRITES}/") or f"/{WRITES}/" in path


def strayed(before: Tree, after: Tree, allowed: frozenset[str] = frozenset()) -> list[str]:
    """Paths that a session changed and was not to change, sorted."""
    touched = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return sorted(path for path in touched if path not in allowed and not noise(path))


def plan_fault(before: Tree, after: Tree, plan: bytes | None) -> str | None:
    """What is wrong with a planning session's evidence, or None: one regular file with something in it, and nothing else."""
    stray = strayed(before, after, frozenset({PLAN_FILE}))
    if plan is None:
        return f"no plan was written to {PLAN_FILE}" + (f"; changed instead: {_listed(stray)}" if stray else "")
    if stray:
        return f"planning changed more than its plan: {_listed(stray)}"
    if before.get(PLAN_FILE) == after.get(PLAN_FILE):
        return f"{PLAN_FILE} was left as it was"
    if len(plan) > PLAN_BYTES:
        return f"the plan is longer than {PLAN_BYTES} bytes"
    try:
        return None if plan.decode("utf-8").strip() else "the plan is empty"
    except UnicodeDecodeError:
        return "the plan is not UTF-8"


def review_fault(before: Tree, after: Tree) -> str | None:
    """What a review changed of the workspace, or None."""
    stray = strayed(before, after)
    return f"the review changed the workspace: {_listed(stray)}" if stray else None


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(path[:200] for path in paths[:NAMED]) + more
