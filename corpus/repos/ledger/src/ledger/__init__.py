"""A plain-text ledger."""

from ledger.book import Book, Entry
from ledger.money import format_cents, parse_amount

__all__ = ["Book", "Entry", "format_cents", "parse_amount"]
