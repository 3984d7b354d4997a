"""`review-output.json`, what a reviewing session hands in: bytes to a `Review`, or the first `Fault` as a value.

Exactly the keys of the format (spec 1.2), strictly typed: no duplicate key, no `1.0` or `true` as a number, no text that is
not Unicode. Texts are judged as they stand; only severity, verdict and category lose their case, and a path its spelling.
It never raises for what an agent wrote, and never mends it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.core import strictjson
from bench.core.strictjson import INVALID, Refused

NAME = "review-output.json"
FOLDER = "/review-output"
"""Where a session finds its writable directory, and a verifier the frozen artifact."""
VARIABLE = "BENCH_REVIEW_OUTPUT"
"""The artifact's path inside the sandbox."""
LIMIT = 256 << 10
"""Bytes of the whole file."""
SCHEMA = 1
FINDINGS = 100
VERDICTS = ("approve", "comment", "request_changes")
SEVERITIES = ("critical", "high", "medium", "low")
TEXT, NAME_BYTES, PATH_BYTES, SEVERITY_BYTES, VERDICT_BYTES = 4096, 128, 512, 16, 32
"""Bytes of UTF-8."""
FIELDS = (
    "id",
    "severity",
    "path",
    "line",
    "end_line",
    "category",
    "scenario",
    "evidence",
    "recommendation",
    "blocking",
)
NEVER_WRITTEN = "never-written"
UNREADABLE = "unreadable"
NOT_REGULAR = "not-regular"
EMPTY = "empty"
"""Kinds of fault, in the order in which they are looked for; those of strict JSON come after them."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no review: a kind of the lists above, and one sentence that names the field where there is one."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding, normalised. Lines count from 1 and are inclusive."""

    id: str
    severity: str
    path: str
    line: int
    end_line: int
    category: str
    scenario: str
    evidence: str
    recommendation: str
    blocking: bool


@dataclass(frozen=True, slots=True)
class Review:
    """A valid artifact."""

    verdict: str
    findings: tuple[Finding, ...]


def never_written() -> Fault:
    """The session left no file."""
    return Fault(NEVER_WRITTEN, f"{NAME} was never written")


def unreadable(why: str) -> Fault:
    """The file could not be read; `why` is the system's text."""
    return Fault(UNREADABLE, f"{NAME} is unreadable: {why}")


def not_regular() -> Fault:
    """A directory, a link (dangling or not), a device, or more than LIMIT bytes."""
    return Fault(NOT_REGULAR, f"{NAME} is not a bounded regular file (at most {LIMIT} bytes, no link)")


def parse(data: bytes) -> Review | Fault:
    """The review that the bytes hold, or the first fault in the order of the kinds."""
    if len(data) > LIMIT:
        return not_regular()
    if not data:
        return Fault(EMPTY, f"{NAME} is empty")
    try:
        return _review(strictjson.read(data))
    except Refused as error:
        return Fault(error.kind, str(error) if error.kind == INVALID else f"{NAME} {error}")


def _review(value: Any) -> Review:
    top = strictjson.fields(value, "", ("schema_version", "verdict", "findings"))
    strictjson.version(top["schema_version"], SCHEMA)
    verdict = strictjson.word(top["verdict"], "verdict", VERDICT_BYTES, VERDICTS)
    items = strictjson.listed(top["findings"], "findings")
    if len(items) > FINDINGS:
        strictjson.refuse("findings", f"has {len(items)} entries, the limit is {FINDINGS}")
    found = tuple(_finding(item, f"findings[{place}]") for place, item in enumerate(items))
    strictjson.unique([finding.id for finding in found], "findings")
    if verdict == "approve" and found:
        strictjson.refuse("verdict", "approve stands beside findings")
    if verdict == "request_changes" and not any(finding.blocking for finding in found):
        strictjson.refuse("verdict", "request_changes needs a finding with blocking: true")
    return Review(verdict, found)


def _finding(value: Any, where: str) -> Finding:
    item = strictjson.fields(value, where, FIELDS)
    line = strictjson.number(item["line"], f"{where}.line", 1)
    if type(item["blocking"]) is not bool:
        strictjson.refuse(f"{where}.blocking", f"must be true or false, not {strictjson.said(item['blocking'])}")
    return Finding(
        id=strictjson.text(item["id"], f"{where}.id", NAME_BYTES),
        severity=strictjson.word(item["severity"], f"{where}.severity", SEVERITY_BYTES, SEVERITIES),
        path=strictjson.path(item["path"], f"{where}.path", PATH_BYTES),
        line=line,
        end_line=strictjson.number(item["end_line"], f"{where}.end_line", line),
        category=strictjson.text(item["category"], f"{where}.category", NAME_BYTES).casefold(),
        scenario=strictjson.text(item["scenario"], f"{where}.scenario", TEXT, strip=True),
        evidence=strictjson.text(item["evidence"], f"{where}.evidence", TEXT, strip=True),
        recommendation=strictjson.text(item["recommendation"], f"{where}.recommendation", TEXT, strip=True),
        blocking=item["blocking"],
    )
