"""The harness is killed, or told to stop, while real clients work: reference failure 24, and pydoit 463 with paid sessions.

Every process that came from the run is followed by its number, whatever it calls itself: client, sandbox, gateway. What was
finished stays, is not bought again, and the next `doit` goes on.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.effects import clock
from tests.effects.engines.modelserver import anthropic, ok, serve
from tests.make import clients, workspaces
from tests.make.clients import Process
from tests.make.workspaces import LIMITS, Bench, talk
from tests.threats.test_killed_run import nothing_left

pytestmark = pytest.mark.slow
WORK = "setsid nohup sleep 25.25 >/dev/null 2>&1 & sleep 25.25"
"""The client's own child and a daemon beside it. Long enough to be stopped in, short enough to be gone on with."""
KEY = {"BENCH_ANTHROPIC_API_KEY": "sk-ant-planted-0123456789abcdef"}
GONE_S = 4.0
"""The two seconds that are promised, and as many again for a busy machine to take the processes away."""


def named(processes: list[Process], text: str) -> list[Process]:
    return [process for process in processes if any(text in word for word in process.words)]


def port_of(processes: list[Process]) -> int:
    (words,) = {process.words for process in processes if "--port" in process.words}
    return int(words[words.index("--port") + 1])


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def finished(bench: Bench) -> dict[str, Any]:
    return {run: record for run, record in clients.sessions(bench).items() if record["state"] == "final"}


def busy(bench: Bench, child: subprocess.Popen[bytes]) -> bool:
    """Whether a client is at its long work, with its daemon, and another one is done; or the run is over."""
    return child.poll() is not None or bool(len(named(clients.descendants(child.pid), "25.25")) >= 2 and finished(bench))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_outlives_the_run_and_what_was_finished_is_not_bought_again(
    built: Callable[[str], Path], tmp_path: Path, number: signal.Signals
):
    bench = Bench(workspaces.copied(built("client"), tmp_path / "ws"))
    clients.play(bench, talk("true"), talk(WORK, take=1), talk("true", take=2), runs=3)
    child = bench.start("-n", "2")
    assert clients.wait(lambda: busy(bench, child))
    assert child.poll() is None, (tmp_path / "logs-of-test/stderr").read_text()
    running, kept = clients.descendants(child.pid), finished(bench)
    assert all(named(running, name) for name in ("bwrap", "/opt/claude/claude", "litellm", "supervisor.py"))
    port, place = port_of(running), Path(named(running, "supervisor.py")[0].words[-1])
    assert list(place.glob("d*/model")), "the session's socket"

    child.send_signal(number)
    began = clock.monotonic()
    assert child.wait(30) == (-number if number == signal.SIGKILL else 130)
    assert clients.wait(lambda: not [process for process in running if process.alive], GONE_S)
    assert clients.wait(lambda: not place.exists() and not is_open(port), GONE_S)
    print(f"{signal.Signals(number).name}: all gone after {clock.monotonic() - began:.2f} s", file=sys.stderr)
    nothing_left(bench, scratch=number != signal.SIGKILL)
    found = clients.sessions(bench)
    assert {(r["state"], r["reason"]) for r in found.values() if r["state"] != "final"} <= {("not_run", "cancelled")}
    assert ("1" in found) is (number != signal.SIGKILL), "of a run that was killed nothing could be written"
    kept |= finished(bench)
    plan = bench.plan("session:tiny/*")
    assert {run: plan[f"session:tiny/add/agent/{run}"] for run in "012"} == {
        run: "current" if run in kept else "measure" for run in "012"
    }
    if number == signal.SIGKILL:
        _goes_on(bench, kept)


def _goes_on(bench: Bench, kept: dict[str, Any]) -> None:
    done = bench.doit("-n", "2")
    assert done.code == 0, done.stderr
    measured = {step.rpartition("/")[2] for step, did in done.did.items() if did == "measured"}
    assert measured == set("012") - set(kept)
    assert kept.items() <= clients.sessions(bench).items()
    assert len(bench.path("artifacts/reports/tiny/results.jsonl").read_text().splitlines()) == 3


def test_calls_that_a_provider_leaves_without_an_answer_hold_nothing_up(built: Callable[[str], Path], tmp_path: Path):
    bench = Bench(workspaces.copied(built("client"), tmp_path / "ws"))
    with serve(ok(anthropic("done")), hang=threading.Event()) as server:
        arm = {"name": "agent", "role": "incumbent", "engine": "claude", "params": {"base_url": server.url}}
        limits = LIMITS | {"budget_usd": None}
        clients.play(bench, talk("true"))
        clients.change(bench, arms=[arm], model=workspaces.MODEL, runs=3, limits=limits)
        child = bench.start("-n", "2", env=KEY)
        assert clients.wait(lambda: child.poll() is not None or len(server.asked) >= 2)
        assert child.poll() is None, (tmp_path / "logs-of-test/stderr").read_text()
        running = clients.descendants(child.pid)
        child.send_signal(signal.SIGINT)
        began = clock.monotonic()
        assert child.wait(30) == 130
        assert clients.wait(lambda: not [process for process in running if process.alive], GONE_S)
        assert clock.monotonic() - began < GONE_S
    assert {(r["state"], r["reason"]) for r in clients.sessions(bench).values()} == {("not_run", "cancelled")}
    nothing_left(bench, scratch=True)
