"""`review-labels.json`, the hidden truth about a change: the faults that a review must find; none on a clean control.

The same names and normal forms as in a review (spec 1.3). Labels are ours: a fault in them is a CorpusError and no outcome.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bench.core import review_artifact as artifact
from bench.core import strictjson
from bench.core.strictjson import Refused
from bench.core.suite import REVIEW_LABELS
from bench.errors import CorpusError

FIELDS = ("id", "severity", "path", "line_start", "line_end", "category")


@dataclass(frozen=True, slots=True)
class Label:
    """One fault of the change. Lines count from 1 and are inclusive."""

    id: str
    severity: str
    path: str
    line_start: int
    line_end: int
    category: str


def is_review(targets: Iterable[str]) -> bool:
    """Whether an oracle with these targets grades a review."""
    return REVIEW_LABELS in set(targets)


def parse(data: bytes, where: str) -> tuple[Label, ...]:
    """The labels; `where` names the file in errors. Raises CorpusError."""
    try:
        return _labels(strictjson.read(data))
    except Refused as error:
        raise CorpusError(str(error), where=where, remedy="mend the labels; format: docs/promotions.md") from None


def _labels(value: Any) -> tuple[Label, ...]:
    top = strictjson.fields(value, "", ("schema_version", "findings"))
    strictjson.version(top["schema_version"], artifact.SCHEMA)
    items = strictjson.listed(top["findings"], "findings")
    found = tuple(_label(item, f"findings[{place}]") for place, item in enumerate(items))
    strictjson.unique([label.id for label in found], "findings")
    return found


def _label(value: Any, where: str) -> Label:
    item = strictjson.fields(value, where, FIELDS)
    start = strictjson.number(item["line_start"], f"{where}.line_start", 1)
    return Label(
        id=strictjson.text(item["id"], f"{where}.id", artifact.NAME_BYTES),
        severity=strictjson.word(item["severity"], f"{where}.severity", artifact.SEVERITY_BYTES, artifact.SEVERITIES),
        path=strictjson.path(item["path"], f"{where}.path", artifact.PATH_BYTES),
        line_start=start,
        line_end=strictjson.number(item["line_end"], f"{where}.line_end", start),
        category=strictjson.text(item["category"], f"{where}.category", artifact.NAME_BYTES).casefold(),
    )
