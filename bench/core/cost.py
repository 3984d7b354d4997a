"""What tokens cost, and sums of costs that may be partly unknown. Unknown stays None: it is never counted as 0.

Prices are data given by the caller (USD per million tokens), usage is what a session measured; nothing is estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from bench.core.numbers import finite

TOKENS = {
    "input_tokens": "input",
    "cache_creation_input_tokens": "cache_creation",
    "cache_read_input_tokens": "cache_read",
    "output_tokens": "output",
}
"""The four usage fields (spec 1.4; input is the uncached remainder) → the price that each is charged at."""
MOST_TOKENS = 10**15
"""Of one kind in a session: a count beyond it is somebody's mistake, and no sum of dollars holds it exactly."""
_MILLION = Decimal(1_000_000)
_CENT_OF_A_CENT = Decimal("0.0001")


def price(usage: Mapping[str, Any] | None, row: Mapping[str, Any] | None) -> float | None:
    """Dollars for one session's usage, rounded to 4 decimals (spec 1.4), or None where anything needed is unknown.

    `usage` holds the four token fields; `row` is {input, cache_creation, cache_read, output} in USD per million tokens.
    A price may be missing only for a kind of token that was not used.
    """
    if usage is None:
        return None
    total = Decimal(0)
    for field, kind in TOKENS.items():
        tokens = usage.get(field)
        if not isinstance(tokens, int) or isinstance(tokens, bool) or not 0 <= tokens <= MOST_TOKENS:
            return None
        if tokens == 0:
            continue
        rate = None if row is None else _rate(row.get(kind))
        if rate is None:
            return None
        total += tokens * rate / _MILLION
    return float(total.quantize(_CENT_OF_A_CENT, rounding=ROUND_HALF_EVEN))


def _rate(value: object) -> Decimal | None:
    known = finite(value)
    return Decimal(str(known)) if known is not None and known >= 0 else None


@dataclass(frozen=True, slots=True)
class Total:
    """A sum in dollars over sessions: `known` of those measured, and how many were not. Exact only if `unknown` is 0."""

    known: float
    unknown: int
    measured: int

    @property
    def text(self) -> str:
        """`$1.2345`, `at least $1.2345 (2 of 6 unmeasured)` or `n/a`."""
        if not self.measured:
            return "n/a"
        if not self.unknown:
            return f"${self.known:.4f}"
        return f"at least ${self.known:.4f} ({self.unknown} of {self.unknown + self.measured} unmeasured)"


def total(costs: Iterable[float | None]) -> Total:
    """Sum of costs in dollars, rounded to 4 decimals; None counts as unmeasured."""
    given = list(costs)
    known = [Decimal(str(cost)) for cost in given if cost is not None]
    summed = sum(known, Decimal(0)).quantize(_CENT_OF_A_CENT, rounding=ROUND_HALF_EVEN)
    return Total(float(summed), len(given) - len(known), len(known))
