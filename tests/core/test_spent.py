from __future__ import annotations

import pytest

from bench.core.spent import Spent, of


@pytest.mark.parametrize(
    ("body", "text", "something"),
    [
        ({}, "$0.00", False),
        ({"spent_usd": 1.25}, "$1.25", True),
        ({"spent_usd": 1.25, "spent_exact": True}, "$1.25", True),
        ({"spent_usd": 1.25, "spent_exact": False}, "at least $1.25", True),
        ({"spent_usd": 0.0, "spent_exact": False}, "at least $0.00", True),
    ],
)
def test_what_is_not_known_in_full_is_at_least(body: dict[str, object], text: str, something: bool):
    assert (of(body).text, of(body).any) == (text, something)


def test_a_sum_is_exact_where_all_of_it_is():
    assert Spent(1.0) + Spent(0.5) == Spent(1.5)
    assert (Spent(1.0) + Spent(0.5, False)).text == "at least $1.50"
