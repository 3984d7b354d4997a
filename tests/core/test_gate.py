"""How checks become a decision: a fold, in which nothing but what the checks say counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import gate
from bench.core.gate import INSUFFICIENT, KEEP, PROMOTE, Check, Verdict

CHECKS = st.lists(st.builds(Check, st.sampled_from("abc"), st.none(), st.just(1), st.just(2), st.sampled_from(Verdict)))


def of(*verdicts: Verdict) -> list[Check]:
    return [Check(f"c{n}", None, 0, 0, verdict, f"because {n}") for n, verdict in enumerate(verdicts)]


def test_insufficient_beats_regression_beats_no_improvement() -> None:
    assert gate.decision(of(Verdict.IMPROVED, Verdict.REGRESSION, Verdict.INSUFFICIENT)) == INSUFFICIENT
    assert gate.decision(of(Verdict.IMPROVED, Verdict.REGRESSION)) == KEEP
    assert gate.decision(of(Verdict.PASS, Verdict.SHORT)) == KEEP
    assert gate.decision(of(Verdict.PASS, Verdict.SHORT, Verdict.IMPROVED, Verdict.NOTE)) == PROMOTE
    assert gate.decision([]) == KEEP


@given(CHECKS, st.randoms(use_true_random=False))
def test_the_order_of_checks_decides_nothing(checks: list[Check], random: Any) -> None:
    mixed = list(checks)
    random.shuffle(mixed)
    assert gate.decision(mixed) == gate.decision(checks)


@given(CHECKS, st.sampled_from([Verdict.INSUFFICIENT, Verdict.REGRESSION]))
def test_one_more_objection_never_promotes(checks: list[Check], verdict: Verdict) -> None:
    assert gate.decision([*checks, *of(verdict)]) != PROMOTE


@given(CHECKS)
def test_a_decision_has_reasons(checks: list[Check]) -> None:
    assert gate.decision(checks) in (PROMOTE, KEEP, INSUFFICIENT)
    assert gate.reasons(checks)


def test_reasons_are_those_that_decided() -> None:
    assert gate.reasons(of(Verdict.REGRESSION, Verdict.SHORT, Verdict.NOTE)) == ["because 0", "because 2"]
    assert gate.reasons(of(Verdict.SHORT)) == ["because 0"]


@pytest.mark.parametrize(
    ("decisions", "whole"),
    [
        ([PROMOTE, PROMOTE], PROMOTE),
        ([PROMOTE, KEEP], KEEP),
        ([KEEP, INSUFFICIENT], INSUFFICIENT),
        ([PROMOTE, INSUFFICIENT], INSUFFICIENT),
        ([], INSUFFICIENT),
    ],
)
def test_every_arm_of_an_overlay_must_promote(decisions: list[str], whole: str) -> None:
    """Failure mode 15: one passing arm once applied an overlay that another had rejected."""
    assert gate.together(decisions) == whole


def test_a_pass_lists_no_reason() -> None:
    assert of(Verdict.PASS)[0].to_json()["reason"] is None
    assert of(Verdict.NOTE)[0].to_json()["reason"] == "because 0"
