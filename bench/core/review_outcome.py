"""From the artifact that a session handed in to a cell's outcome fields, in the reference's names (spec 1.4).

The artifact comes before the authored tests, which only say that there is one: the first cause wins, and a session's own is
earlier still. A review without a valid artifact is no evidence; `nop`, which hands in nothing by design, is a failed review.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.core import outcome, review_artifact, scoring
from bench.core.error_kinds import REVIEW_INVALID
from bench.core.labels import Label
from bench.core.outcome import Authored, Cause
from bench.core.review_artifact import NEVER_WRITTEN, Fault, Review
from bench.core.verdict import Verdict

PREFIX = "review_"


@dataclass(frozen=True, slots=True)
class Judged:
    """A review with its score, or why there is none."""

    review: Review | None
    score: Mapping[str, Any] | None
    fault: Fault | None

    @property
    def absent(self) -> bool:
        """Whether nothing was handed in."""
        return self.fault is not None and self.fault.kind == NEVER_WRITTEN


def judge(handed: bytes | None, said: Mapping[str, Any] | None, labels: Sequence[Label]) -> Judged:
    """`handed` are the artifact's bytes, `said` the session's {written, diagnostic, fault} where it has none to give.

    Raises MissingPart where a score is due and scipy is absent.
    """
    if handed is None:
        return Judged(None, None, _unread(said or {}))
    found = review_artifact.parse(handed)
    if isinstance(found, Fault):
        return Judged(None, None, found)
    return Judged(found, scoring.score(found, labels), None)


def _unread(said: Mapping[str, Any]) -> Fault:
    if not said.get("written"):
        return review_artifact.never_written()
    told = said.get("diagnostic") or f"{review_artifact.NAME} could not be read"
    return Fault(str(said.get("fault") or review_artifact.UNREADABLE), str(told))


def fields(judged: Judged, *, calibration: bool = False) -> dict[str, Any]:
    """review_score, review_evidence_valid and each figure as `review_…`; null where there is no score.

    Nothing from a calibration arm is no invalid evidence: it is what `nop` is for.
    """
    valid = None if judged.absent and calibration else judged.fault is None
    score = dict(judged.score) if judged.score else None
    figures = {PREFIX + name: (score or {}).get(name) for name in scoring.FIGURES}
    return {"review_score": score, "review_evidence_valid": valid} | figures


def unscored(judged: Judged) -> dict[str, Any]:
    """The fields of a session that is no evidence anyway: whether its artifact was valid, and no score to be misread."""
    return fields(Judged(None, None, judged.fault))


def graded(session: Mapping[str, Any], authored: Authored, judged: Judged, *, calibration: bool) -> dict[str, Any]:
    """The outcome fields of a review whose session was graded. The oracle passes with nothing wrong, nothing missed and
    the right verdict."""
    oracle = _verdict(judged, calibration)
    found = outcome.graded(session, authored, True, oracle)
    cause = outcome.of_session(session) or _cause(judged, calibration)
    if cause:
        found |= outcome.said(cause)
    if judged.fault is not None:
        found["resolved"] = False
    return found | fields(judged, calibration=calibration)


def _cause(judged: Judged, calibration: bool) -> Cause | None:
    if judged.fault is None:
        return None
    if judged.absent and calibration:
        return Cause("no-work-produced", "no-work-produced", judged.fault.text)
    return Cause(REVIEW_INVALID, f"review-{judged.fault.kind}", judged.fault.text[: outcome.DETAIL])


def _verdict(judged: Judged, calibration: bool) -> Verdict | None:
    """None where the oracle has nothing to judge."""
    if judged.score is None:
        return Verdict(False, True, _counts(0, 0, 0), "nothing was handed in") if judged.absent and calibration else None
    score = judged.score
    passed = scoring.passed(score)
    verdict = "right" if score["verdict_correct"] else "wrong"
    why = f"{score['false_positives']} findings too many, {score['false_negatives']} missed, the verdict is {verdict}"
    counts = _counts(score["true_positives"], score["false_negatives"], score["false_positives"])
    return Verdict(passed, not passed, counts, why)


def _counts(met: int, missed: int, wrong: int) -> dict[str, int]:
    return {"expected": met + missed, "passed": met, "failed": missed, "missing": 0, "unexpected": wrong}
