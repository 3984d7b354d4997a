"""Reading what comes out of a run."""

from __future__ import annotations

import os
import threading

import pytest

from bench.effects import clock
from bench.effects.sandbox.pump import Pump


def pipes(**written: bytes) -> dict[str, int]:
    """Read ends of pipes that hold these bytes and are closed."""
    sources = {}
    for name, data in written.items():
        sources[name], sink = os.pipe()
        os.write(sink, data)
        os.close(sink)
    return sources


def never() -> None:
    return None


def test_everything_is_read() -> None:
    pump = Pump(pipes(stdout=b"o", stderr=b"e"), {"stdout": 10, "stderr": 10})
    assert pump.run(clock.monotonic() + 60, None, never, lambda hard: None) is None
    assert (bytes(pump.got["stdout"]), bytes(pump.got["stderr"])) == (b"o", b"e")


@pytest.mark.parametrize(("size", "limit"), [(9, None), (10, None), (11, "output"), (1000, "output")])
def test_what_exceeds_a_bound_is_thrown_away_and_named(size: int, limit: str | None) -> None:
    pump = Pump(pipes(stdout=b"x" * size), {"stdout": 10})
    assert pump.run(clock.monotonic() + 60, None, never, lambda hard: None) == limit
    assert len(pump.got["stdout"]) == min(size, 10)


def test_the_first_bound_that_is_hit_is_named() -> None:
    source, sink = os.pipe()
    cancel = threading.Event()
    cancel.set()
    asked: list[bool] = []

    def end(hard: bool) -> None:
        asked.append(hard)
        os.close(sink)

    assert Pump({"stdout": source}, {}).run(clock.monotonic(), cancel, lambda: "disk", end) == "cancelled"
    assert asked == [False]


def test_the_time_and_what_was_looked_up_end_a_run() -> None:
    for deadline, look, limit in ((0.0, never, "time"), (clock.monotonic() + 60, lambda: "memory", "memory")):
        source, sink = os.pipe()
        assert Pump({"stdout": source}, {}).run(deadline, None, look, lambda hard, sink=sink: os.close(sink)) == limit


def test_input_is_fed_while_output_is_read() -> None:
    data = os.urandom(300_000)
    source, sink = os.pipe()
    echo_source, echo_sink = os.pipe()

    def echo() -> None:
        with open(source, "rb") as reader, open(echo_sink, "wb") as writer:
            writer.write(reader.read())

    thread = threading.Thread(target=echo)
    thread.start()
    pump = Pump({"stdout": echo_source}, {"stdout": 1 << 20}, feed=(sink, data))
    assert pump.run(clock.monotonic() + 60, None, never, lambda hard: None) is None
    thread.join()
    assert bytes(pump.got["stdout"]) == data
