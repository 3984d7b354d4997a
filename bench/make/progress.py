"""What a run tells while it goes on: a live line on a terminal, one plain line per finished step elsewhere."""

from __future__ import annotations

import sys
import threading

from bench.core.records import Record
from bench.effects import clock, console
from bench.make.step import Step

QUIET = frozenset({"reused"})
"""Outcomes that are counted and not told one by one."""


class Progress:
    """Told by actions (in worker threads) when a step starts and ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, float] = {}
        self.done = 0
        self.total = 0
        self.spent = 0.0
        self._began = clock.monotonic()
        self.live = False

    @property
    def busy(self) -> bool:
        """Whether any action is under way."""
        return bool(self._running)

    def begin(self, total: int) -> None:
        """Set the number of steps that doit selected."""
        self.total = total
        self.live = sys.stderr.isatty()

    def start(self, step: Step) -> None:
        """A step's action starts."""
        with self._lock:
            self._running[step.id] = clock.monotonic()
            self._draw()

    def passed(self) -> None:
        """A step was up to date."""
        self.done += 1

    def end(self, step: Step, did: str, record: Record | None, seconds: float) -> None:
        """A step's action ended."""
        with self._lock:
            self._running.pop(step.id, None)
            self.done += 1
            if record is not None and did == "measured":
                self.spent += float(record.body.get("spent_usd") or 0)
            if did in QUIET:
                self._draw()
                return
            reason = f"  ({record.reason})" if record is not None and record.reason else ""
            line = f"{did:9} {step.id}  {seconds:.1f} s{reason}"
            console.say(self._clear() + line)
            self._draw()

    def finish(self) -> None:
        """Take the live line away."""
        with self._lock:
            if self.live:
                console.say_err(self._clear(), end="")

    def _clear(self) -> str:
        return "\r\x1b[K" if self.live else ""

    def _draw(self) -> None:
        if not self.live:
            return
        now = clock.monotonic()
        sessions = [f"{name.removeprefix('session:')} {now - t:.0f} s" for name, t in self._running.items()]
        left = (now - self._began) / max(1, self.done) * max(0, self.total - self.done)
        text = f"{self.done}/{self.total} steps · ${self.spent:.2f} · about {left:.0f} s left · {', '.join(sessions)}"
        console.say_err(f"\r\x1b[K{text[: console.width() - 1]}", end="")
