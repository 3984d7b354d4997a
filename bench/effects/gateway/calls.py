"""What is known of one session's calls: which went out, how each came to its end, and what the proxy's lines say of them.

The lines are the proxy's word, but whether a client got its whole answer is the door's: a call that was cut is never a whole
one. What nobody told of stays unknown.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from bench.effects.gateway import ledger
from bench.effects.gateway.ledger import Ledger


class Account(NamedTuple):
    """Of all calls. `calls` as in `Traffic`."""

    lines: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    dollars: float
    """At list price, of the calls whose price is known."""
    fresh: float
    """Those of them that were not given before."""
    exact: bool
    """Whether `dollars` is every call that may have cost something."""
    broken: bool
    """Whether the last call failed because the proxy was not there."""


class Calls:
    """Safe to use from several threads. `name` is the session in the ledger."""

    def __init__(self, told: Ledger, name: str) -> None:
        self._told, self._name = told, name
        self._guard = threading.Condition()
        self._sent: list[str] = []
        self._settled: dict[str, int | None] = {}
        """Calls that came to their end, with the status that the client got; None = cut."""
        self._unheard: set[str] = set()
        """Calls that never reached the proxy: what the client was told came from the door."""
        self._missed: set[str] = set()
        """Calls whose lines were waited for in vain: nothing waits for them again."""
        self._booked = 0.0

    def start(self) -> str:
        """The number of a call that goes out now."""
        with self._guard:
            self._sent.append(str(len(self._sent)))
            return self._sent[-1]

    def unheard(self, number: str) -> None:
        """The proxy was not there to take it."""
        with self._guard:
            self._unheard.add(number)

    def settle(self, number: str, status: int | None) -> None:
        """A call has come to its end; what it is told first counts."""
        with self._guard:
            self._settled.setdefault(number, status)
            self._guard.notify_all()

    def fresh(self, seconds: float) -> float:
        """Dollars that were not given before, of calls that have come to their end; for the lines of those it waits so long,
        and not at all where that is 0."""
        with self._guard:
            settled = set(self._settled)
        return self._new(ledger.spent(self.lines(settled, seconds) if seconds else self._told.lines(self._name))[0])

    def _new(self, dollars: float) -> float:
        with self._guard:
            more = max(0.0, dollars - self._booked)
            self._booked += more
        return more

    def lines(self, calls: set[str], seconds: float) -> list[dict[str, Any]]:
        """The session's lines; those of these calls are waited for, once."""
        with self._guard:
            awaited = calls - self._missed - self._unheard
        found = self._told.wait(self._name, awaited, seconds)
        with self._guard:
            self._missed |= awaited - {str(line.get("call")) for line in found}
        return found

    def account(self, model: str, seconds: float) -> Account:
        """Of the whole session, which has ended: its calls were cut, and each has only to say so."""
        with self._guard:
            self._guard.wait_for(lambda: len(self._settled) == len(self._sent), seconds)
            sent = list(self._sent)
        lines = self.lines(set(sent), seconds)
        with self._guard:
            settled = dict(self._settled)
        known = {line.get("call") for line in lines}
        cut = {number for number, status in settled.items() if status is None}
        calls = [ledger.entry(line, cut=line.get("call") in cut) for line in lines]
        calls += [ledger.lost(model, settled.get(number)) for number in sent if number not in known]
        dollars, exact = ledger.spent(lines)
        exact = exact and all(call["status"] != "unaccounted" for call in calls)
        last = next(reversed(settled), None)
        self._told.forget(self._name)
        return Account(lines, calls, round(dollars, 6), self._new(dollars), exact, last in self._unheard)
