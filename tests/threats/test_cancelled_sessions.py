"""Ctrl-C or SIGTERM while a model is being waited for: the session and the gateway end, and what was cut is no evidence."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.effects import clock
from tests.effects.engines.modelserver import ok, openai, serve
from tests.make import workspaces
from tests.make.workspaces import CODE, LIMITS, Bench
from tests.threats.test_killed_run import nothing_left

pytestmark = pytest.mark.slow
UNBOUND = LIMITS | {"budget_usd": None}


def waited_for(what: Callable[[], object], child: subprocess.Popen[bytes]) -> None:
    deadline = clock.monotonic() + 150
    while not what():
        assert child.poll() is None, "it ended before it was to be stopped"
        assert clock.monotonic() < deadline
        clock.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_session_that_waits_for_its_model_is_recorded_as_cancelled(tmp_path: Path, number: signal.Signals):
    with serve(ok(openai("done")), hang=threading.Event()) as server:
        params = {"base_url": server.url + "/v1"}
        arms = [{"name": "agent", "role": "incumbent", "engine": "loop", "params": params}]
        bench = Bench(workspaces.write(tmp_path / "ws", arms=arms, model="openai/gpt-5", runs=4, limits=UNBOUND))
        child = bench.start("-n", "2", env={"BENCH_OPENAI_API_KEY": "sk-planted-0123456789"})
        waited_for(lambda: len(server.asked) == 2, child)
        child.send_signal(number)
        assert child.wait(30) == 130
        assert len(server.asked) == 2, "nothing was started after the signal"
    records = [json.loads(path.read_bytes()) for path in bench.path("artifacts/sessions").rglob("*.json")]
    assert [(record["state"], record["reason"]) for record in records] == [("not_run", "cancelled")] * 2
    nothing_left(bench, scratch=True)
    assert "session:tiny/add/agent/0" in bench.plan("session:tiny/*")


def lines() -> dict[int, list[str]]:
    """Words of the command line of every process."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            found[int(folder.name)] = words[:-1]
    return found


def gateway_of(child: subprocess.Popen[bytes]) -> str | None:
    """The directory of the gateway that a run has started, as its supervisor was told."""
    for pid, words in lines().items():
        with contextlib.suppress(OSError, IndexError):
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            if parent == child.pid and any(word.endswith("supervisor.py") for word in words):
                return words[-1]
    return None


def naming(place: str) -> list[list[str]]:
    return [words for words in lines().values() if any(place in word for word in words)]


@pytest.mark.parametrize("when", ["the gateway starts", "the client is at work"])
def test_the_gateway_goes_with_the_run(tmp_path: Path, when: str):
    arms = [{"name": "agent", "role": "incumbent", "engine": "claude"}]
    bench = Bench(workspaces.write(tmp_path / "ws", arms=arms, model="replay/demo", limits=LIMITS))
    bench.path("corpus/cassettes").mkdir()
    shutil.copy(CODE / "corpus" / "cassettes" / "demo.json", bench.path("corpus/cassettes/demo.json"))
    child = bench.start("preflight")
    waited_for(lambda: gateway_of(child), child)
    place = str(gateway_of(child))
    if when == "the client is at work":
        waited_for(bench.path("artifacts/logs/preflights/tiny/claude.log").exists, child)
    child.send_signal(signal.SIGTERM)
    assert child.wait(30) == 130
    deadline = clock.monotonic() + 4
    while (naming(place) or Path(place).exists()) and clock.monotonic() < deadline:
        clock.sleep(0.05)
    assert naming(place) == []
    assert not Path(place).exists()
    assert not bench.path("artifacts/preflight/tiny/claude.json").exists()
    nothing_left(bench, scratch=True)
