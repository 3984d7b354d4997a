"""Amounts as whole cents."""

from __future__ import annotations


def parse_amount(text: str) -> int:
    """Cents of an amount such as `12.50`, `-3` or `0.07`. Raises ValueError for anything else."""
    return int(float(text) * 100)


def format_cents(cents: int) -> str:
    """An amount with two decimals."""
    return f"{cents / 100:.2f}"
