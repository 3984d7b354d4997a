"""Hidden: sums of units, and what is not a duration."""

import pytest

from clockwork import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1h30m", 5400), ("1d2h", 93600), ("2m5s", 125), ("1d1h1m1s", 90061), ("90s", 90), ("10m", 600)],
)
def test_sums(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "1h 30m", "1h30", "x1h", "1hh", "-1h", "30m1h", "1h1h"])
def test_what_is_not_a_duration(text):
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize("seconds", [0, 1, 59, 60, 3661, 86400, 90061])
def test_round_trip(seconds):
    assert parse_duration(format_duration(seconds)) == seconds
