"""The names of what can go wrong with a cell, and the sets that readers of cells share. One definition each.

A kind is a value in a record, never an exception. Whoever asks "does this row count?" asks here, so that reuse, medians,
health, the outage breaker and the gates cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REVIEW_INVALID = "review-evidence-invalid"
ORACLE_UNAVAILABLE = "oracle-unavailable"
PLAN_INVALID = "plan-evidence-invalid"

EXCLUDED = frozenset({"session-error", "infra-error", "evidence-unverified", "cleanup-failure", REVIEW_INVALID, "cancelled"})
"""No evidence about the arm: left out of medians, blocks a promotion, is not reused."""

SYSTEMIC = frozenset({"session-error", "infra-error", "cleanup-failure", REVIEW_INVALID})
"""Feeds the outage breaker."""

EXECUTION_FAILURE = frozenset({"session-error", "infra-error", "cleanup-failure", "cancelled"})
"""Health: the machinery or the model's service failed."""

EVIDENCE_FAILURE = frozenset({REVIEW_INVALID, "evidence-unverified", "skill-not-invoked"})
"""Health: the session ended, but does not show what it should."""

SKILL_ATTRIBUTABLE = frozenset({"skill-not-invoked"})
"""The arm's own doing: stays in the medians and keeps a task gated."""

VALID_NEGATIVES = frozenset(
    {"verify-failed", "oracle-failed", "no-work-produced", PLAN_INVALID, "implementation-evidence-invalid"}
)
"""A wrong answer is evidence: admissible, reusable, counted. The last one, a session that changed the skill under test,
stands in rows of the reference alone: ours are mounted read-only from outside the workspace."""


def excluded(row: Mapping[str, Any]) -> bool:
    """Whether a row (fields error_kind, review_evidence_valid) is no evidence about its arm."""
    return row.get("error_kind") in EXCLUDED or row.get("review_evidence_valid") is False


def execution_failed(row: Mapping[str, Any]) -> bool:
    """Whether health counts the row (field error_kind) as a failed execution."""
    return row.get("error_kind") in EXECUTION_FAILURE


def evidence_failed(row: Mapping[str, Any]) -> bool:
    """Whether health counts the row as failed evidence, whatever error_kind was recorded first."""
    return (
        row.get("error_kind") in EVIDENCE_FAILURE
        or row.get("review_evidence_valid") is False
        or row.get("transcript_missing") is True
    )
