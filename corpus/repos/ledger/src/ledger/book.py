"""Entries, and their balance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ledger.money import format_cents, parse_amount


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    date: str
    text: str
    cents: int

    @classmethod
    def parse(cls, line: str) -> Entry:
        """Read `date;text;amount`."""
        date, text, amount = line.split(";")
        return cls(date, text.strip(), parse_amount(amount))


class Book:
    """Entries in the order in which they were read."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)

    @classmethod
    def read(cls, lines: Iterable[str]) -> Book:
        """Read lines; blank ones and those that start with `#` are skipped."""
        return cls(Entry.parse(line) for line in lines if line.strip() and not line.startswith("#"))

    def balance(self) -> int:
        """Sum of all entries in cents."""
        return sum(entry.cents for entry in self.entries)

    def statement(self) -> str:
        """One line per entry and the balance."""
        lines = [f"{e.date}  {e.text:20}  {format_cents(e.cents):>10}" for e in self.entries]
        return "\n".join([*lines, f"{'':10}  {'balance':20}  {format_cents(self.balance()):>10}"])
