"""Hidden: amounts are exact to the cent."""

import pytest

from ledger import Book, format_cents, parse_amount


@pytest.mark.parametrize(
    ("text", "cents"),
    [("0.29", 29), ("1.15", 115), ("-19.99", -1999), ("4.35", 435), ("3", 300), ("-0.07", -7), (" 12.50 ", 1250), ("0.5", 50)],
)
def test_exact(text, cents):
    assert parse_amount(text) == cents


@pytest.mark.parametrize("text", ["", "1.234", "nan", "1e3", "12,50", "--1"])
def test_refused(text):
    with pytest.raises(ValueError):
        parse_amount(text)


def test_every_amount_reads_back():
    for cents in range(-1200, 1201):
        assert parse_amount(format_cents(cents)) == cents


def test_balance():
    assert Book.read(["2026-01-01;a;0.29", "2026-01-02;b;-0.07", "2026-01-03;c;1.15"]).balance() == 137
