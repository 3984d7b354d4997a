"""Whether an agent's session may start now: outage, budget, rate limit. One per run; asked by every worker.

What it holds back becomes `not_run` with the reason, and the next `doit` goes on from there. It never ends a session that
runs, and knows only of sessions of this run: what was reused or restored says nothing about now.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bench.core import admission, breaker, records, spent
from bench.core.records import Record
from bench.core.spent import Spent
from bench.effects import clock
from bench.errors import Cancelled

FOREVER = 4e9
"""Seconds since 1970 beyond which no service's date is believed."""
POLL_S = 0.2
"""How soon a waiting worker sees that the run was cancelled."""
Say = Callable[[str], None]
Costs = Callable[[bool], list[float]]
"""Dollars of the finished sessions on disk that are a step's kin; of all arms of its suite when told True. Asked once."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a suite says about the starts of its sessions; never part of a key."""

    suite: str
    outage: int = 0
    """Systemic failures in a row after which nothing starts; 0 = no limit."""
    budget_usd: float | None = None
    """Dollars that its sessions of one run may spend together."""
    expected_usd: float | None = None
    """Dollars of a session whose arm has no finished one."""


class Session(Protocol):
    """What of a step concerns its start."""

    name: str
    params: Mapping[str, Any]
    paid: bool
    terms: Terms | None

    @property
    def id(self) -> str:
        """Its name for people."""
        ...


@dataclass(slots=True)
class Ticket:
    """A session that was let in."""

    step: Session
    started: int
    """Its place in the order of starts of this run."""
    expected: float | None
    spent: float = 0.0
    """Dollars that it has told of so far."""

    @property
    def outstanding(self) -> float:
        """Dollars that it is expected to spend yet."""
        return max(0.0, (self.expected or 0.0) - self.spent)


@dataclass(slots=True)
class Purse:
    """A suite in this run."""

    spent: float = 0.0
    running: list[Ticket] = field(default_factory=list)
    ended: list[breaker.Ended] = field(default_factory=list)
    closed: str | None = None
    """Why nothing of it starts any more in this run."""
    trip: str | None = None
    """`closed`, where an outage is the reason."""
    costs: dict[tuple[str, ...], list[float]] = field(default_factory=dict)

    @property
    def reserved(self) -> float:
        """Dollars that its running sessions are expected to spend yet."""
        return sum(one.outstanding for one in self.running)


class Admission:
    """The door through which sessions start. All numbers stand under one lock."""

    def __init__(self, cancel: threading.Event, now: Callable[[], float] = lambda: clock.now_utc().timestamp()) -> None:
        self.cancel = cancel
        self.now = now
        """Seconds since 1970."""
        self._free = threading.Condition()
        self._purses: dict[str, Purse] = {}
        self._starts = 0
        self._resume = 0.0
        """Seconds since 1970 before which nothing starts."""
        self._why = ""
        self._tries: dict[str, int] = {}
        self.spent = Spent()
        """Of all suites in this run."""

    @property
    def trips(self) -> list[str]:
        """What tripped, a line per suite."""
        return [f"{suite}: {purse.trip}" for suite, purse in self._purses.items() if purse.trip]

    @property
    def paused(self) -> str | None:
        """Why nothing starts at the moment, and until when."""
        return self._why if self.now() < self._resume else None

    def enter(self, step: Session, costs: Costs, say: Say) -> Ticket | str:
        """Let a session in, when a limit has reset; or say why it is held back. Raises Cancelled while it waits."""
        assert step.terms is not None
        told = ""
        with self._free:
            purse = self._purses.setdefault(step.terms.suite, Purse())
            while True:
                if self.cancel.is_set():
                    raise Cancelled("stopped before its turn", where=step.id)
                if purse.closed:
                    return purse.closed
                wait, why = self._wait(purse, step, costs)
                if not wait:
                    break
                if why and why != told:
                    say(why)
                    told = why
                self._free.wait(wait)
            expected = self._expected(purse, step, costs)
            if held := self._over(purse, step, expected):
                return held
            ticket = Ticket(step, self._starts, expected)
            self._starts += 1
            purse.running.append(ticket)
            return ticket

    def leave(self, ticket: Ticket, record: Record | None, say: Say) -> bool:
        """A session ended with this record (None: with none). True when it is to be run again, for a limit ended it."""
        step = ticket.step
        assert step.terms is not None
        with self._free:
            purse = self._purses[step.terms.suite]
            purse.running.remove(ticket)
            told = spent.of(record.body) if record is not None else Spent()
            untold = max(0.0, told.known - ticket.spent)
            self.spent += Spent(untold, told.exact)
            ticket.spent += untold
            purse.spent += untold
            if not told.exact:
                # What is not known was spent all the same: the budget is to hold for it too.
                purse.spent += ticket.outstanding
            self._free.notify_all()
            if record is None or record.state == records.NOT_RUN:
                return False  # withdrawn: it says nothing
            if step.paid and (dollars := cost_of(record)) is not None:
                for wide in (False, True):
                    purse.costs.setdefault(kin(step.name, step.params, wide=wide), []).append(dollars)
            again = self._limit(purse, step, record.body, say)
            if not again:
                purse.ended.append(breaker.Ended(ticket.started, kind_of(record)))
                self._judge(purse, step, record)
            return again

    def spend(self, ticket: Ticket | None, dollars: float) -> None:
        """Dollars as they are spent; without a ticket by what is no session."""
        with self._free:
            self.spent += Spent(dollars)
            if ticket is not None and ticket.step.terms is not None:
                ticket.spent += dollars
                self._purses[ticket.step.terms.suite].spent += dollars

    def left(self, ticket: Ticket | None) -> float | None:
        """Dollars that a session's suite may spend yet in this run, whichever of its sessions does; None = no bound."""
        budget = _budget(ticket.step) if ticket is not None else None
        if ticket is None or ticket.step.terms is None or budget is None:
            return None
        with self._free:
            return round(budget - self._purses[ticket.step.terms.suite].spent, 6)

    def _wait(self, purse: Purse, step: Session, costs: Costs) -> tuple[float, str]:
        """Seconds to wait before looking again (0: none), and what for."""
        left = self._resume - self.now()
        if left > 0:
            return min(left, POLL_S), self._why
        if _budget(step) is None or _given(step) is not None:
            return 0.0, ""
        # While nothing is known of what its sessions cost, one at a time: several could each spend all that is left.
        unknown = [one for one in purse.running if one.step.paid and one.expected is None]
        if unknown and self._expected(purse, step, costs) is None:
            return POLL_S, f"waits for the cost of {unknown[0].step.id}"
        return 0.0, ""

    def _expected(self, purse: Purse, step: Session, costs: Costs) -> float | None:
        """Its arm's median, else what the suite says, else the median of the suite's other arms, else unknown."""

        def known(wide: bool) -> list[float]:
            family = kin(step.name, step.params, wide=wide)
            if family not in purse.costs:
                purse.costs[family] = costs(wide)
            return purse.costs[family]

        given = _given(step)
        return admission.expected_usd(known(False), admission.expected_usd(known(True), None) if given is None else given)

    def _over(self, purse: Purse, step: Session, expected: float | None) -> str | None:
        budget = _budget(step)
        return None if budget is None else admission.over_budget(budget, purse.spent, purse.reserved, expected)

    def _limit(self, purse: Purse, step: Session, body: Mapping[str, Any], say: Say) -> bool:
        limit = admission.limited(body)
        if limit is None:
            return False
        now = self.now()
        if not step.paid and (limit.resets_at is None or limit.resets_at <= now):
            return False  # a recorded limit; a replay meets it again and again
        until = admission.resume_at(now, limit)
        if until is None:
            purse.closed = f"a {limit.cls} of the model's service resets at {_at(limit.resets_at)}, too far away to wait for"
            say(purse.closed)
            return False
        if until > self._resume:
            self._resume, self._why = until, f"{limit.cls} of the model's service: no session starts before {_at(until)}"
            say(self._why)
        tries = self._tries[step.id] = self._tries.get(step.id, 0) + 1
        return step.paid and tries < admission.TRIES

    def _judge(self, purse: Purse, step: Session, record: Record) -> None:
        assert step.terms is not None
        if not purse.closed and breaker.tripped(purse.ended, step.terms.outage):
            last = record.reason or kind_of(record)
            purse.trip = f"outage: {step.terms.outage} sessions in a row failed systemically, the last {step.id}: {last}"[
                :300
            ]
            purse.closed = f"outage: {step.terms.outage} sessions in a row failed systemically"


def _budget(step: Session) -> float | None:
    """Dollars that the step's suite may spend in this run; None where nothing bounds it, or nothing is spent."""
    return step.terms.budget_usd if step.paid and step.terms else None


def _given(step: Session) -> float | None:
    return step.terms.expected_usd if step.terms else None


def kin(name: str, params: Mapping[str, Any], *, wide: bool = False) -> tuple[str, ...]:
    """Sessions whose costs are alike: suite, arm (all of them when wide), model, effort; a canary's are those of its arm.

    `name` is `suite/task/arm/run`, or a canary's `suite/candidate/arm`.
    """
    parts = name.split("/")
    arm = parts[2] if len(parts) > 2 and not wide else ""
    return parts[0], arm, str(params.get("model")), str(params.get("effort"))


def cost_of(record: Record) -> float | None:
    """Dollars of a finished session; None where they are not known in full, and for what was held back, gave no evidence, or
    only stands for a session: it says nothing of what one costs."""
    if record.state != records.FINAL or records.STANDS_FOR in record.body or record.body.get("spent_usd") is None:
        return None
    told = spent.of(record.body)
    return told.known if told.exact else None


def kind_of(record: Record) -> str | None:
    """The systemic kind of an ended session. One that ended by an error of ours has no kind of its own."""
    if record.state == records.UNUSABLE and not record.body.get("error_kind"):
        return "infra-error"
    return breaker.systemic_kind(record.body)


def _at(seconds: float | None) -> str:
    if seconds is None or not 0 <= seconds < FOREVER:
        return "no date that is known"
    return clock.stamp(datetime.datetime.fromtimestamp(seconds, datetime.UTC))
