"""Days added to stamps, against the library's own arithmetic."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import calendar

FORM = "%Y-%m-%dT%H:%M:%SZ"


@given(st.integers(0, 7 * 10**9), st.integers(0, 3650))
def test_the_library_says_the_same(seconds: int, days: int) -> None:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    want = (moment + datetime.timedelta(days=days)).strftime(FORM)
    assert calendar.later(moment.strftime(FORM), days) == want


@pytest.mark.parametrize("days", [10**12, 3_000_000, 10**30])
def test_days_beyond_the_calendar_are_refused_at_once(days: int) -> None:
    with pytest.raises(ValueError, match="no such day"):
        calendar.later("2026-01-01T00:00:00Z", days)


@pytest.mark.parametrize(
    "text", ["", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-01-01T00:00:00+00:00", "2026-01-01"]
)
def test_what_is_no_stamp(text: str) -> None:
    with pytest.raises(ValueError, match=r"stamp|day|month"):
        calendar.later(text, 1)
