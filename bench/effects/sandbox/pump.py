"""Reads everything that comes out of a sandbox, feeds what goes in, and says when to end it. Judges nothing else.

What exceeds a bound is read and thrown away, so that nothing inside ever blocks on a full pipe while it is being ended.
"""

from __future__ import annotations

import os
import selectors
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.effects import clock

CHUNK = 1 << 16
POLL_S = 0.05
LOOK_S = 0.2
GRACE_S = 5.0
Watch = Callable[[str, bytes], None]
"""Told the name of a stream and what just came out of it, while the command runs."""


@dataclass(slots=True)
class Pump:
    """The descriptors of one run and the bytes that came out of them; takes over and closes every descriptor."""

    sources: dict[str, int]
    bounds: dict[str, int]
    feed: tuple[int, bytes] | None = None
    watch: Watch | None = None
    got: dict[str, bytearray] = field(default_factory=dict)
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def run(
        self, deadline: float, cancel: threading.Event | None, look: Callable[[], str | None], end: Callable[[bool], None]
    ) -> str | None:
        """Until every source is at its end. Returns the first bound that was hit: time, output, cancelled, or `look`'s.

        `look` is asked now and then. `end(hard)` is called when a bound is hit, and must make the sources end; again, and
        hard, when they have not done so within GRACE_S. What is still open then is given up.
        """
        limit: str | None = None
        looked = ending = clock.monotonic()
        hard = False
        try:
            self._open()
            while any(key.data != "stdin" for key in self._selector.get_map().values()):
                now = clock.monotonic()
                over = self._turn(POLL_S if cancel else max(0.0, min(LOOK_S, deadline - now)))
                now = clock.monotonic()
                if cancel is not None and cancel.is_set():
                    over = over or "cancelled"
                elif now >= deadline:
                    over = over or "time"
                elif not over and now - looked >= LOOK_S:
                    over, looked = look(), now
                if over and limit is None:
                    limit, ending = over, now
                    end(False)
                if limit and now - ending > GRACE_S:
                    if hard:
                        break
                    ending, hard = now, True
                    end(True)
        finally:
            self.close()
        return limit

    def _open(self) -> None:
        for name, number in self.sources.items():
            self.got[name] = bytearray()
            os.set_blocking(number, False)
            self._selector.register(number, selectors.EVENT_READ, name)
        if self.feed:
            os.set_blocking(self.feed[0], False)
            self._selector.register(self.feed[0], selectors.EVENT_WRITE, "stdin")

    def _turn(self, timeout: float) -> str | None:
        over = None
        for key, _events in self._selector.select(timeout):
            if key.data == "stdin":
                self._write()
            elif self._read(key.data, key.fd):
                over = "output"
        return over

    def _write(self) -> None:
        assert self.feed is not None, "only a feed is registered for writing"
        number, data = self.feed
        try:
            data = data[os.write(number, data[:CHUNK]) :]
        except BrokenPipeError:
            data = b""
        self.feed = (number, data)
        if not data:
            self._selector.unregister(number)
            os.close(number)
            self.feed = None

    def _read(self, name: str, number: int) -> bool:
        data = os.read(number, CHUNK)
        if not data:
            self._selector.unregister(number)
            os.close(number)
            del self.sources[name]
            return False
        room = self.bounds.get(name, CHUNK) - len(self.got[name])
        self.got[name] += data[: max(0, room)]
        if self.watch and name in ("stdout", "stderr") and room > 0:
            self.watch(name, data[:room])
        return len(data) > room

    def close(self) -> None:
        """Close what is still open."""
        self._selector.close()
        for number in [*self.sources.values(), *([self.feed[0]] if self.feed else [])]:
            os.close(number)
        self.sources, self.feed = {}, None
