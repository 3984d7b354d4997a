"""What a review is worth against the labels (spec 2.1): which finding meets which label, and the numbers that follow.

A finding may meet a label when their paths are equal and their inclusive line ranges overlap; no tolerance, and neither
category nor severity decides. One finding meets one label. Among the pairings with the most pairs the one is taken that is
largest in (matched weight, reported weight matched, blocking labels hit, equal severities, equal categories): scipy's
assignment over one integer per possible pair, so every number below is the same whichever of equal pairings it finds, and
ids, the order of findings and the order of keys decide nothing. Ties are shown as they fall after sorting by content.

A finding of more than SPAN_CAP lines meets no label (one from line 1 to a million would meet every one); it stays a false
positive at its reported weight. An identical finding under another id is one more false positive.

`matching` shows all of it: for each pair the ids and three weights, reported, of the label, and matched (the smaller of the
two), for each finding and label that is left its id and weight. The weighted figures are sums of just these: precision is
matched ÷ (matched + left findings), recall is matched ÷ (labels of pairs + left labels), F1 their harmonic mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bench.core.labels import Label
from bench.core.review_artifact import FINDINGS, Finding, Review
from bench.errors import MissingPart

WEIGHTS = {"critical": 8, "high": 5, "medium": 2, "low": 1}
BLOCKING = frozenset({"critical", "high"})
SPAN_CAP = 65
"""Lines that a matching finding may span, end − line + 1: as many as the widest label known in practice."""
DECIMALS = 6
FIGURES = (
    "true_positives",
    "false_positives",
    "false_negatives",
    "precision",
    "recall",
    "f1",
    "weighted_precision",
    "weighted_recall",
    "weighted_f1",
    "blocker_recall",
    "severity_accuracy",
    "category_accuracy",
    "grounded_evidence",
    "verdict_correct",
    "clean_control",
    "clean_pass",
    "score_finite",
)
"""Fields of a score that a row repeats with the prefix `review_`."""
_WEIGHT_BASE = FINDINGS * WEIGHTS["critical"] + 1
_COUNT_BASE = FINDINGS + 1


@dataclass(frozen=True, slots=True)
class Pair:
    """A finding and the label that it meets, as places in the sequences they came from."""

    finding: int
    label: int


def score(review: Review, labels: Sequence[Label]) -> dict[str, Any]:
    """Every figure of FIGURES, rounded once to 6 decimals, and `matching`: pairs, what is left, and what was too wide."""
    pairs = match(review.findings, labels)
    met = [(review.findings[pair.finding], labels[pair.label]) for pair in pairs]
    right = verdict_for(labels)
    clean = not labels
    return (
        _counts(len(met), len(review.findings), len(labels))
        | _weighted(met, review.findings, labels)
        | {
            "blocker_recall": _share(sum(_hit(*pair) for pair in met), sum(label.severity in BLOCKING for label in labels)),
            "severity_accuracy": _share(sum(f.severity == label.severity for f, label in met), len(met)),
            "category_accuracy": _share(sum(f.category == label.category for f, label in met), len(met)),
            # Evidence that is blank is no valid finding, so what is left is all grounded.
            "grounded_evidence": 1.0 if review.findings else None,
            "verdict_correct": review.verdict == right,
            "clean_control": clean,
            "clean_pass": clean and not review.findings and review.verdict == "approve",
            "score_finite": True,
            "verdict": review.verdict,
            "expected_verdict": right,
            "matching": _shown(pairs, review.findings, labels),
        }
    )


def passed(figures: Mapping[str, Any]) -> bool:
    """The oracle's word on a review: nothing wrong, nothing missed, the right verdict."""
    return not figures["false_positives"] and not figures["false_negatives"] and figures["verdict_correct"] is True


def verdict_for(labels: Sequence[Label]) -> str:
    """The one right verdict."""
    if not labels:
        return "approve"
    return "request_changes" if any(label.severity in BLOCKING for label in labels) else "comment"


def too_wide(finding: Finding) -> bool:
    """Whether a finding spans more lines than can match."""
    return finding.end_line - finding.line + 1 > SPAN_CAP


def may_match(finding: Finding, label: Label) -> bool:
    """Whether a finding can meet a label."""
    overlap = finding.line <= label.line_end and finding.end_line >= label.line_start
    return finding.path == label.path and overlap and not too_wide(finding)


def match(findings: Sequence[Finding], labels: Sequence[Label]) -> list[Pair]:
    """The best pairing, sorted by label. Raises MissingPart without scipy."""
    rows = sorted(range(len(findings)), key=lambda place: _content(findings[place]))
    columns = sorted(range(len(labels)), key=lambda place: _place(labels[place]))
    values = [[_value(findings[row], labels[column]) for column in columns] for row in rows]
    if not any(any(line) for line in values):
        return []
    chosen = [(rows[row], columns[column]) for row, column in _assigned(values) if values[row][column]]
    return [Pair(finding, label) for finding, label in sorted(chosen, key=lambda pair: columns.index(pair[1]))]


def _content(finding: Finding) -> tuple[Any, ...]:
    nameless = replace(finding, id="")
    return (*(getattr(nameless, name) for name in _CONTENT), finding.id)


_CONTENT = ("path", "line", "end_line", "severity", "category", "blocking", "scenario", "evidence", "recommendation")


def _place(label: Label) -> tuple[Any, ...]:
    return label.path, label.line_start, label.line_end, label.severity, label.category, label.id


def _assigned(values: list[list[int]]) -> list[tuple[int, int]]:
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        remedy = "install assay-bench anew; scipy is one of its parts"
        raise MissingPart("scipy is not installed, and grading reviews needs it", remedy=remedy) from None
    rows, columns = linear_sum_assignment(values, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]


def _value(finding: Finding, label: Label) -> int:
    """One integer for the tuple that pairings are compared by; 0 where the two cannot meet.

    Each part has room for its largest sum over 100 pairs, and the sum of all stays far below 2^53: exact in float64.
    """
    if not may_match(finding, label):
        return 0
    reported = WEIGHTS[finding.severity]
    found = 1
    for part, base in (
        (_worth(finding, label), _WEIGHT_BASE),
        (reported, _WEIGHT_BASE),
        (int(_hit(finding, label)), _COUNT_BASE),
        (int(finding.severity == label.severity), _COUNT_BASE),
        (int(finding.category == label.category), _COUNT_BASE),
    ):
        found = found * base + part
    return found


def _worth(finding: Finding, label: Label) -> int:
    """A downgrade is worth what it reported, an upgrade no more than its label."""
    return min(WEIGHTS[finding.severity], WEIGHTS[label.severity])


def _hit(finding: Finding, label: Label) -> bool:
    """A blocking label, found and reported as blocking; the finding's own flag `blocking` does not count."""
    return label.severity in BLOCKING and finding.severity in BLOCKING


def _counts(pairs: int, findings: int, labels: int) -> dict[str, Any]:
    return {
        "true_positives": pairs,
        "false_positives": findings - pairs,
        "false_negatives": labels - pairs,
        "precision": _share(pairs, findings),
        "recall": _share(pairs, labels),
        "f1": _share(2 * pairs, findings + labels) if labels else None,
    }


def _weighted(met: Sequence[tuple[Finding, Label]], findings: Sequence[Finding], labels: Sequence[Label]) -> dict[str, Any]:
    matched = sum(_worth(finding, label) for finding, label in met)
    wrong = sum(WEIGHTS[f.severity] for f in findings) - sum(WEIGHTS[finding.severity] for finding, _ in met)
    total = sum(WEIGHTS[label.severity] for label in labels)
    harmonic = None
    if labels:
        # 2PR/(P+R) with P = matched/(matched + wrong) and R = matched/total.
        harmonic = _share(2 * matched, matched + wrong + total) if matched else 0.0
    return {
        "weighted_precision": _share(matched, matched + wrong),
        "weighted_recall": _share(matched, total),
        "weighted_f1": harmonic,
    }


def _share(part: int, whole: int) -> float | None:
    return float(round(Fraction(part, whole), DECIMALS)) if whole else None


def _shown(pairs: Sequence[Pair], findings: Sequence[Finding], labels: Sequence[Label]) -> dict[str, Any]:
    """In the order of content: which met and for what, which findings and labels are left, which findings were too wide."""
    used = {pair.finding for pair in pairs}, {pair.label for pair in pairs}
    rows = sorted(range(len(findings)), key=lambda place: _content(findings[place]))
    columns = sorted(range(len(labels)), key=lambda place: _place(labels[place]))
    return {
        "pairs": [_met(findings[pair.finding], labels[pair.label]) for pair in pairs],
        "unmatched_findings": [_left(findings[place]) for place in rows if place not in used[0]],
        "unmatched_labels": [_left(labels[place]) for place in columns if place not in used[1]],
        "too_wide": [findings[place].id for place in rows if too_wide(findings[place])],
        "span_cap": SPAN_CAP,
    }


def _met(finding: Finding, label: Label) -> dict[str, Any]:
    weights = {"reported_weight": WEIGHTS[finding.severity], "label_weight": WEIGHTS[label.severity]}
    return {"finding": finding.id, "label": label.id, "matched_weight": _worth(finding, label)} | weights


def _left(item: Finding | Label) -> dict[str, Any]:
    return {"id": item.id, "weight": WEIGHTS[item.severity]}
