"""Findings, labels and whole artifacts for tests, as plain JSON and as values."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from bench.core import labels, review_artifact
from bench.core.labels import Label
from bench.core.review_artifact import SEVERITIES, Finding, Review

PATHS = ("a.py", "b.py")


def raw(number: int = 0, **fields: Any) -> dict[str, Any]:
    """One finding as an agent writes it."""
    return {
        "id": f"F{number}",
        "severity": "high",
        "path": "a.py",
        "line": 10,
        "end_line": 12,
        "category": "correctness",
        "scenario": "when it is empty",
        "evidence": "the loop runs once too often",
        "recommendation": "stop earlier",
        "blocking": True,
    } | fields


def artifact(*findings: dict[str, Any], verdict: str | None = None, **top: Any) -> bytes:
    """A whole artifact."""
    said = verdict or ("request_changes" if findings else "approve")
    return json.dumps({"schema_version": 1, "verdict": said, "findings": list(findings)} | top).encode()


def review(*findings: dict[str, Any], verdict: str | None = None) -> Review:
    """A parsed artifact."""
    found = review_artifact.parse(artifact(*findings, verdict=verdict))
    assert isinstance(found, Review), found
    return found


def raw_label(number: int = 0, **fields: Any) -> dict[str, Any]:
    """One label as it stands in a file."""
    usual = {"severity": "high", "path": "a.py", "line_start": 10, "line_end": 10, "category": "correctness"}
    return {"id": f"L{number}"} | usual | fields


def label_file(*found: dict[str, Any]) -> bytes:
    """A labels file."""
    return json.dumps({"schema_version": 1, "findings": list(found)}).encode()


def truth(*found: dict[str, Any]) -> tuple[Label, ...]:
    """Parsed labels."""
    return labels.parse(label_file(*found), "labels")


@st.composite
def findings(draw: st.DrawFn, most: int = 5) -> tuple[Finding, ...]:
    """Findings close enough to each other to compete for labels."""
    made = []
    for number in range(draw(st.integers(0, most))):
        line = draw(st.integers(1, 6))
        span = draw(st.sampled_from([0, 0, 1, 3, 64, 65, 900]))
        made.append(
            Finding(
                id=f"F{number}",
                severity=draw(st.sampled_from(SEVERITIES)),
                path=draw(st.sampled_from(PATHS)),
                line=line,
                end_line=line + span,
                category=draw(st.sampled_from(["tests", "security"])),
                scenario="s",
                evidence="e",
                recommendation="r",
                blocking=draw(st.booleans()),
            )
        )
    return tuple(made)


@st.composite
def true_labels(draw: st.DrawFn, most: int = 5) -> tuple[Label, ...]:
    """Labels in the same few lines."""
    made = []
    for number in range(draw(st.integers(0, most))):
        line = draw(st.integers(1, 6))
        severity, path = draw(st.sampled_from(SEVERITIES)), draw(st.sampled_from(PATHS))
        category = draw(st.sampled_from(["tests", "security"]))
        made.append(Label(f"L{number}", severity, path, line, line + draw(st.integers(0, 2)), category))
    return tuple(made)
