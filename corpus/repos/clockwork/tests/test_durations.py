import pytest

from clockwork import format_duration, parse_duration


@pytest.mark.parametrize(("text", "seconds"), [("45s", 45), ("10m", 600), ("2h", 7200), ("1d", 86400)])
def test_single_units(text, seconds):
    assert parse_duration(text) == seconds


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration("soon")


def test_format():
    assert format_duration(5400) == "1h30m"
    assert format_duration(0) == "0s"
