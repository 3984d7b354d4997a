"""Real money: what a session's record says that it cost, and sums of that. What is not known in full is "at least"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Spent:
    """Dollars that were really spent, as far as they are known; all of them only if `exact`."""

    known: float = 0.0
    exact: bool = True

    @property
    def any(self) -> bool:
        """Whether it cost something: what is not known in full did."""
        return self.known > 0 or not self.exact

    @property
    def text(self) -> str:
        """`$1.25` or `at least $1.25`."""
        return f"{'' if self.exact else 'at least '}${self.known:.2f}"

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.known + other.known, self.exact and other.exact)


def of(body: Mapping[str, Any]) -> Spent:
    """What a record's body (fields spent_usd, spent_exact) says of it; a record without the second knows all."""
    return Spent(float(body.get("spent_usd") or 0), bool(body.get("spent_exact", True)))
