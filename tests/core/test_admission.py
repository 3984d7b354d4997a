"""Waiting for a rate limit, and what a budget lets start: number by number."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core.admission import expected_usd, limited, over_budget, resume_at
from bench.core.outages import FALLBACK_S, LONGEST_S, MARGIN_S, Outage

NOW = 1_800_000_000.0


@pytest.mark.parametrize("cls", ["rate-limit", "usage-limit"])
def test_a_limit_is_known_by_its_class_alone(cls: str):
    assert limited({"outage": {"cls": cls, "resets_at": 12}}) == Outage(cls, 12.0)
    assert limited({"outage": {"cls": cls}}) == Outage(cls, None)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"outage": None},
        {"outage": {"cls": "auth", "resets_at": 12}},
        {"error_detail": "You've hit your limit, resets 3am"},
        {"outage": "rate-limit"},
    ],
)
def test_other_ends_and_words_are_no_limit(body: dict[str, Any]):
    assert limited(body) is None


@pytest.mark.parametrize("odd", [True, "12", None, [12]])
def test_a_reset_that_is_no_number_is_no_reset(odd: Any):
    assert limited({"outage": {"cls": "rate-limit", "resets_at": odd}}) == Outage("rate-limit", None)


def test_the_wait_is_to_the_reset_and_a_margin():
    assert resume_at(NOW, Outage("rate-limit", NOW + 100)) == NOW + 100 + MARGIN_S
    assert resume_at(NOW, Outage("usage-limit", NOW + 5 * 3600)) == NOW + 5 * 3600 + MARGIN_S


def test_a_reset_that_has_passed_costs_the_margin():
    assert resume_at(NOW, Outage("rate-limit", NOW - 100)) == NOW + MARGIN_S
    assert resume_at(NOW, Outage("rate-limit", 0.0)) == NOW + MARGIN_S


def test_without_a_reset_the_fallback():
    assert resume_at(NOW, Outage("rate-limit", None)) == NOW + FALLBACK_S


def test_no_wait_is_longer_than_the_bound():
    assert resume_at(NOW, Outage("usage-limit", NOW + LONGEST_S - MARGIN_S)) == NOW + LONGEST_S
    assert resume_at(NOW, Outage("usage-limit", NOW + LONGEST_S)) is None
    assert resume_at(NOW, Outage("usage-limit", float("inf"))) is None


def test_what_a_session_is_expected_to_cost():
    assert expected_usd([1.0, 9.0, 2.0], 5.0) == 2.0
    assert expected_usd([], 5.0) == 5.0
    assert expected_usd([], None) is None


@pytest.mark.parametrize(
    ("spent", "reserved", "expected", "held"),
    [
        (0.0, 0.0, None, False),
        (0.99, 0.0, None, False),
        (1.0, 0.0, None, True),
        (0.5, 0.5, None, True),
        (0.0, 0.0, 1.0, False),
        (0.0, 0.0, 1.01, True),
        (0.4, 0.4, 0.2, False),
        (0.4, 0.4, 0.21, True),
        (1.0, 0.0, 0.0, True),
    ],
)
def test_nothing_starts_that_would_pass_the_budget(spent: float, reserved: float, expected: float | None, held: bool):
    assert (over_budget(1.0, spent, reserved, expected) is not None) == held


def test_a_held_session_says_the_sums():
    assert over_budget(1.0, 1.2, 0, None) == "the budget of $1.00 is used up ($1.20 spent in this run)"
    assert over_budget(2.0, 1.0, 0.5, 0.75) == (
        "the budget of $2.00 does not cover it ($1.50 spent or expected of running sessions in this run, "
        "this one expected to cost $0.75)"
    )
