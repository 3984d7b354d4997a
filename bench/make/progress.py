"""What a run tells while it goes on: a live display on a terminal, one plain line per finished step elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from bench.core.records import Record
from bench.effects import clock, console
from bench.make.step import Step

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

QUIET = frozenset({"reused"})
"""Outcomes that are counted and not told one by one."""
SHOWN = 6
"""Running steps that the live display names."""


class Progress:
    """Told by actions (in worker threads) when a step starts and ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, float] = {}
        self._began = clock.monotonic()
        self._live: Live | None = None
        self.done = 0
        self.total = 0
        self.spent: Callable[[], str] = lambda: "$0.00"
        """Dollars of this run so far, for the live display."""
        self.paused: Callable[[], str | None] = lambda: None
        """Why no session starts at the moment, for the live display."""

    @property
    def busy(self) -> bool:
        """Whether any action is under way."""
        return bool(self._running)

    def begin(self, total: int) -> None:
        """`total` steps were selected. On a terminal the display starts."""
        self.total = total
        self._began = clock.monotonic()
        if sys.stdout.isatty():
            from rich.live import Live

            self._live = Live(get_renderable=self._drawn, refresh_per_second=2, transient=True)
            self._live.start()

    def start(self, step: Step) -> None:
        """A step's action starts."""
        with self._lock:
            self._running[step.id] = clock.monotonic()

    def passed(self) -> None:
        """A step was up to date."""
        with self._lock:
            self.done += 1

    def end(self, step: Step, did: str, record: Record | None, seconds: float) -> None:
        """A step's action ended."""
        with self._lock:
            self._running.pop(step.id, None)
            self.done += 1
            if did in QUIET:
                return
            self._print(f"{did:9} {console.visible(step.id)}  {seconds:.1f} s{_outcome(record)}")

    def say(self, line: str) -> None:
        """One line, at once."""
        with self._lock:
            self._print(console.visible(line))

    def _print(self, line: str) -> None:
        if self._live is None:
            console.say(line)
        else:
            self._live.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def finish(self) -> None:
        """Take the live display away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _drawn(self) -> Text:
        from rich.text import Text

        now = clock.monotonic()
        elapsed = now - self._began
        left = elapsed / max(1, self.done) * max(0, self.total - self.done)
        eta = f"about {left:.0f} s left" if self.done and elapsed > 1 else "starting"
        lines = [f"{self.done}/{self.total} steps · {self.spent()} · {eta}"]
        lines += [f"  {why}"] if (why := self.paused()) else []
        running = sorted(self._running.items(), key=lambda item: item[1])
        lines += [f"  {console.visible(name)}  {now - since:.0f} s" for name, since in running[:SHOWN]]
        if len(running) > SHOWN:
            lines.append(f"  and {len(running) - SHOWN} more")
        return Text("\n".join(lines))


def _outcome(record: Record | None) -> str:
    """The reason of a record that is not final; of a cell, whether it is resolved and what stands in the way."""
    if record is None:
        return ""
    if record.reason:
        return f"  ({console.visible(record.reason)})"
    if record.kind != "cell":
        return ""
    kind = record.body.get("error_kind")
    return "  resolved" if record.body.get("resolved") else f"  not resolved ({kind})" if kind else "  not resolved"
