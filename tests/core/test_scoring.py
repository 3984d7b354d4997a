"""Scores of reviews: the numbers by hand, the pairing against all pairings, and what may never change a score."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench.core import review_artifact, scoring
from bench.core.labels import Label
from bench.core.review_artifact import Finding, Review
from bench.core.scoring import BLOCKING, FIGURES, WEIGHTS
from tests.core import reviews
from tests.core.reviews import raw, raw_label, review, truth


def figures(found: Review, labels: Sequence[Label]) -> dict[str, Any]:
    scored = scoring.score(found, labels)
    return {name: scored[name] for name in FIGURES}


def of(findings: Sequence[Finding], labels: Sequence[Label]) -> dict[str, Any]:
    return figures(Review("comment", tuple(findings)), labels)


def test_all_found_and_the_right_verdict() -> None:
    scored = scoring.score(review(raw()), truth(raw_label()))
    assert scoring.passed(scored)
    assert (scored["f1"], scored["weighted_f1"], scored["blocker_recall"]) == (1.0, 1.0, 1.0)
    assert scored["matching"] == {
        "pairs": [{"finding": "F0", "label": "L0", "matched_weight": 5, "reported_weight": 5, "label_weight": 5}],
        "unmatched_findings": [],
        "unmatched_labels": [],
        "too_wide": [],
        "span_cap": 65,
    }


def test_weights_by_hand() -> None:
    """A critical found as high, a low found as critical, a medium missed, a high false positive."""
    labels = truth(
        raw_label(1, severity="critical", line_start=1, line_end=1),
        raw_label(2, severity="low", line_start=2, line_end=2, category="tests"),
        raw_label(3, severity="medium", line_start=3, line_end=3),
    )
    found = of(
        review(
            raw(1, severity="high", line=1, end_line=1),
            raw(2, severity="critical", line=2, end_line=2),
            raw(3, severity="high", line=90, end_line=90),
        ).findings,
        labels,
    )
    assert (found["true_positives"], found["false_positives"], found["false_negatives"]) == (2, 1, 1)
    assert (found["precision"], found["recall"], found["f1"]) == (0.666667, 0.666667, 0.666667)
    # Matched 5 + 1, wrong 5, labels 8 + 1 + 2.
    assert (found["weighted_precision"], found["weighted_recall"], found["weighted_f1"]) == (0.545455, 0.545455, 0.545455)
    assert (found["blocker_recall"], found["severity_accuracy"], found["category_accuracy"]) == (1.0, 0.0, 0.5)


def test_a_downgraded_blocker_is_no_hit_and_earns_what_it_reported() -> None:
    """Failure mode 34: downgraded blockers were counted in full; the finding's own flag decides nothing."""
    found = of(review(raw(severity="low", blocking=True)).findings, truth(raw_label(severity="critical")))
    assert (found["blocker_recall"], found["weighted_recall"]) == (0.0, 0.125)


def test_a_clean_control() -> None:
    passed = scoring.score(review(), ())
    assert (passed["clean_control"], passed["clean_pass"], passed["verdict_correct"]) == (True, True, True)
    assert [passed[name] for name in ("precision", "recall", "f1", "weighted_f1", "grounded_evidence")] == [None] * 5
    failed = scoring.score(review(raw()), ())
    assert (failed["false_positives"], failed["clean_pass"], failed["f1"], failed["recall"]) == (1, False, None, None)
    assert (failed["precision"], failed["weighted_precision"], failed["grounded_evidence"]) == (0.0, 0.0, 1.0)
    assert not scoring.score(review(verdict="comment"), ())["clean_pass"]


def test_nothing_found_where_there_are_labels() -> None:
    found = of((), truth(raw_label()))
    assert (found["precision"], found["recall"], found["f1"]) == (None, 0.0, 0.0)
    assert (found["weighted_precision"], found["weighted_f1"], found["severity_accuracy"]) == (None, 0.0, None)
    missed = of(review(raw(line=50, end_line=50)).findings, truth(raw_label()))
    assert (missed["weighted_precision"], missed["weighted_f1"]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("severities", "right"), [([], "approve"), (["low", "medium"], "comment"), (["low", "high"], "request_changes")]
)
def test_the_right_verdict(severities: list[str], right: str) -> None:
    assert scoring.verdict_for(truth(*(raw_label(n, severity=s) for n, s in enumerate(severities)))) == right


def test_no_line_of_tolerance() -> None:
    labels = truth(raw_label(line_start=10, line_end=12))
    spans = [(9, 9), (9, 10), (12, 20), (13, 13)]
    met = [of(review(raw(line=a, end_line=b)).findings, labels)["true_positives"] for a, b in spans]
    assert met == [0, 1, 1, 0]


def test_a_finding_over_everything_meets_nothing() -> None:
    """Range gaming: from line 1 to a million matched any label in the file."""
    labels = truth(raw_label(line_start=60, line_end=60))
    wide = scoring.score(review(raw(line=1, end_line=66)), labels)
    assert (wide["true_positives"], wide["false_positives"], wide["weighted_precision"]) == (0, 1, 0.0)
    assert wide["matching"]["too_wide"] == ["F0"]
    assert of(review(raw(line=1, end_line=65)).findings, labels)["true_positives"] == 1
    assert of(review(raw(line=1, end_line=10**30)).findings, labels)["true_positives"] == 0


def test_the_best_of_two_findings_meets_the_label() -> None:
    """Readings 1: a low label with a high and a low finding on it: weighted F1 0.286, as the low one is matched."""
    pair = review(raw(1, severity="high"), raw(2, severity="low")).findings
    found = of(pair, truth(raw_label(severity="low")))
    # Equal matched weight 1: the larger reported weight is matched, so what is left weighs less.
    assert found["weighted_f1"] == 0.666667
    assert found == of(pair[::-1], truth(raw_label(severity="low")))


def test_more_pairs_beat_heavier_pairs() -> None:
    labels = truth(raw_label(1, severity="critical", line_end=10), raw_label(2, severity="low", line_start=11, line_end=11))
    found = of(
        review(raw(1, severity="critical", line=10, end_line=11), raw(2, severity="low", line=10, end_line=10)).findings,
        labels,
    )
    assert found["true_positives"] == 2


def test_an_identical_finding_is_one_more_false_positive() -> None:
    once, twice = review(raw(1)).findings, review(raw(1), raw(2)).findings
    labels = truth(raw_label())
    assert of(twice, labels)["false_positives"] == of(once, labels)["false_positives"] + 1


def by_hand(findings: Sequence[Finding], labels: Sequence[Label]) -> tuple[int, ...]:
    """The best tuple over all pairings, tried one by one."""
    best = (0,) * 6
    slots = [*range(len(labels)), *([None] * len(findings))]
    for chosen in set(itertools.permutations(slots, len(findings))):
        met = [(f, labels[at]) for f, at in zip(findings, chosen, strict=True) if at is not None]
        if all(scoring.may_match(*pair) for pair in met):
            best = max(best, _worth(met))
    return best


def _worth(met: Sequence[tuple[Finding, Label]]) -> tuple[int, ...]:
    return (
        len(met),
        sum(min(WEIGHTS[f.severity], WEIGHTS[label.severity]) for f, label in met),
        sum(WEIGHTS[f.severity] for f, _ in met),
        sum(label.severity in BLOCKING and f.severity in BLOCKING for f, label in met),
        sum(f.severity == label.severity for f, label in met),
        sum(f.category == label.category for f, label in met),
    )


@settings(max_examples=60, deadline=None)
@given(reviews.findings(most=3), reviews.true_labels(most=3))
def test_the_pairing_is_the_best_of_all(findings: tuple[Finding, ...], labels: tuple[Label, ...]) -> None:
    """Failure mode 34: greedy pairing made scores depend on the order of lists."""
    pairs = scoring.match(findings, labels)
    assert len({pair.finding for pair in pairs}) == len({pair.label for pair in pairs}) == len(pairs)
    assert _worth([(findings[pair.finding], labels[pair.label]) for pair in pairs]) == by_hand(findings, labels)


@settings(deadline=None)
@given(reviews.findings(), reviews.true_labels(), st.randoms(use_true_random=False))
def test_ids_and_order_never_change_a_score(findings: tuple[Finding, ...], labels: tuple[Label, ...], random: Any) -> None:
    """Failure mode 34, 8.4: ids were a part of the order in which pairs were chosen."""
    before = of(findings, labels)
    names = [f"{number}" for number in range(len(findings))]
    random.shuffle(names)
    renamed = [replace(finding, id=name) for finding, name in zip(findings, names, strict=True)]
    random.shuffle(renamed)
    moved = [replace(label, id=f"x{random.random()}") for label in labels]
    random.shuffle(moved)
    assert of(renamed, moved) == before


@given(reviews.findings(), st.randoms(use_true_random=False))
def test_the_order_of_keys_never_changes_a_review(findings: tuple[Finding, ...], random: Any) -> None:
    def shuffled(item: dict[str, Any]) -> dict[str, Any]:
        keys = list(item)
        random.shuffle(keys)
        return {key: item[key] for key in keys}

    plain = [{name: getattr(finding, name) for name in review_artifact.FIELDS} for finding in findings]
    top = {"schema_version": 1, "verdict": "comment", "findings": plain}
    mixed = shuffled(top | {"findings": [shuffled(item) for item in plain]})
    first, second = (review_artifact.parse(json.dumps(document).encode()) for document in (top, mixed))
    assert first == second == Review("comment", findings)


@settings(deadline=None)
@given(reviews.findings(), reviews.true_labels(), st.data())
def test_removing_a_false_positive_never_lowers_weighted_f1(
    findings: tuple[Finding, ...], labels: tuple[Label, ...], data: st.DataObject
) -> None:
    met = {pair.finding for pair in scoring.match(findings, labels)}
    wrong = [place for place in range(len(findings)) if place not in met]
    if not wrong:
        return
    gone = data.draw(st.sampled_from(wrong))
    less = [finding for place, finding in enumerate(findings) if place != gone]
    before, after = of(findings, labels), of(less, labels)
    assert (after["weighted_f1"] or 0) >= (before["weighted_f1"] or 0)
    assert after["true_positives"] == before["true_positives"]


@settings(deadline=None)
@given(reviews.findings(), reviews.true_labels(), st.data())
def test_adding_a_matching_finding_never_lowers_recall(
    findings: tuple[Finding, ...], labels: tuple[Label, ...], data: st.DataObject
) -> None:
    """Plain recall only: a low finding on a high label can take that label from a heavier pairing (readings 6)."""
    if not labels:
        return
    label = data.draw(st.sampled_from(labels))
    line = data.draw(st.integers(label.line_start, label.line_end))
    severity = data.draw(st.sampled_from(review_artifact.SEVERITIES))
    more = Finding("new", severity, label.path, line, line, "tests", "s", "e", "r", False)
    assert of([*findings, more], labels)["recall"] >= of(findings, labels)["recall"]


@settings(deadline=None)
@given(reviews.findings(), reviews.true_labels())
@example((), ())
def test_every_figure_is_in_its_range(findings: tuple[Finding, ...], labels: tuple[Label, ...]) -> None:
    found = of(findings, labels)
    shares = [value for name, value in found.items() if isinstance(value, float)]
    assert all(0 <= value <= 1 and round(value, 6) == value for value in shares)
    assert (found["f1"] is None) == (found["recall"] is None) == (not labels)
    assert (found["precision"] is None) == (not findings)
    assert found["true_positives"] + found["false_negatives"] == len(labels)
    assert found["true_positives"] + found["false_positives"] == len(findings)


@settings(deadline=None)
@given(reviews.findings(), reviews.true_labels())
def test_what_is_shown_adds_up_to_the_weighted_figures(findings: tuple[Finding, ...], labels: tuple[Label, ...]) -> None:
    scored = scoring.score(Review("comment", findings), labels)
    shown = scored["matching"]
    matched = sum(pair["matched_weight"] for pair in shown["pairs"])
    assert all(pair["matched_weight"] == min(pair["reported_weight"], pair["label_weight"]) for pair in shown["pairs"])
    wrong = sum(left["weight"] for left in shown["unmatched_findings"])
    total = sum(each["label_weight"] for each in shown["pairs"]) + sum(left["weight"] for left in shown["unmatched_labels"])
    assert scored["weighted_precision"] == (round(matched / (matched + wrong), 6) if findings else None)
    assert scored["weighted_recall"] == (round(matched / total, 6) if labels else None)
    said = sorted(each["finding"] for each in shown["pairs"]) + sorted(left["id"] for left in shown["unmatched_findings"])
    assert sorted(said) == sorted(finding.id for finding in findings)


def test_a_full_house_is_exact() -> None:
    """100 findings on 100 labels: the integers stay exact, and nothing is lost to rounding."""
    severities = review_artifact.SEVERITIES
    findings = [raw(n, severity=severities[n % 4], line=1 + n % 7, end_line=1 + n % 7) for n in range(100)]
    labels = truth(
        *(raw_label(n, severity=severities[(n // 4) % 4], line_start=1 + n % 7, line_end=1 + n % 7) for n in range(100))
    )
    first = of(review(*findings).findings, labels)
    assert first["true_positives"] == 100
    assert of(review(*findings[::-1]).findings, labels[::-1]) == first
