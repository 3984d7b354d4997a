"""Prices: unknown is never 0, and the arithmetic is exact to the fourth decimal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import cost

ROW = {"input": 3.0, "cache_creation": 3.75, "cache_read": 0.3, "output": 15.0}
TOKENS = st.integers(0, 10**9)


def usage(a: int = 0, b: int = 0, c: int = 0, d: int = 0) -> dict[str, int]:
    return dict(zip(cost.TOKENS, (a, b, c, d), strict=True))


def test_each_kind_of_token_has_its_own_price() -> None:
    million = 1_000_000
    assert cost.price(usage(million, million, million, million), ROW) == 22.05
    assert cost.price(usage(1000, 2000, 30000, 500), ROW) == 0.027


def test_rounded_half_to_even_at_four_decimals() -> None:
    assert cost.price(usage(50), {"input": 1.0}) == 0.0
    assert cost.price(usage(150), {"input": 1.0}) == 0.0002


def test_nothing_used_costs_nothing_even_without_prices() -> None:
    assert cost.price(usage(), None) == 0.0


@pytest.mark.parametrize(
    ("used", "row"),
    [
        (None, ROW),
        (usage(1), None),
        (usage(1), {}),
        (usage(1), {"input": None}),
        (usage(0, 0, 0, 7), {"input": 3.0}),
        ({"input_tokens": 1}, ROW),
        ({**usage(1), "output_tokens": None}, ROW),
        ({**usage(1), "output_tokens": True}, ROW),
        ({**usage(1), "output_tokens": -1}, ROW),
        ({**usage(1), "output_tokens": 1.5}, ROW),
        ({**usage(1), "output_tokens": 10**40}, ROW),
        (usage(1), {"input": float("nan")}),
        (usage(1), {"input": -1.0}),
        (usage(1), {"input": "3"}),
    ],
)
def test_what_is_unknown_stays_unknown(used: dict[str, int] | None, row: dict[str, float] | None) -> None:
    assert cost.price(used, row) is None


@given(TOKENS, TOKENS, TOKENS, TOKENS)
def test_more_tokens_never_cost_less(a: int, b: int, c: int, d: int) -> None:
    less, more = cost.price(usage(a, b, c, d), ROW), cost.price(usage(a + 1, b, c, d + 1), ROW)
    assert less is not None
    assert more is not None
    assert more >= less >= 0


def test_a_sum_says_when_it_is_only_a_lower_bound() -> None:
    assert cost.total([0.1, 0.2]).text == "$0.3000"
    assert cost.total([0.1, None, 0.2]).text == "at least $0.3000 (1 of 3 unmeasured)"
    assert cost.total([None]).text == "n/a"
    assert cost.total([]).text == "n/a"
    assert cost.total([0.0]).text == "$0.0000"
