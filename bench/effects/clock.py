"""The clock. Read by sessions, reuse, apply and verify, and nowhere else."""

from __future__ import annotations

import datetime
import time


def now_utc() -> datetime.datetime:
    """The present, zoned UTC."""
    return datetime.datetime.now(datetime.UTC)


def stamp(moment: datetime.datetime | None = None) -> str:
    """`2026-01-31T12:00:00Z`, whole seconds."""
    return (moment or now_utc()).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse(text: str) -> datetime.datetime:
    """Read a stamp; a naive one is UTC. Raises ValueError."""
    moment = datetime.datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


def monotonic() -> float:
    """Seconds of a clock that never goes back."""
    return time.monotonic()


def sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)
