"""The harness is killed, or told to stop, while the real client is at work: nothing of the session lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import bench

pytestmark = pytest.mark.slow

PLAY = """
import sys
from pathlib import Path
from tests.effects.engines.claude.scripted import text, turns
from tests.steps.test_session_claude import Bench, bash
bench = Bench(Path(sys.argv[1]))
bench.play(turns([bash(sys.argv[2])], [text("Done.")]))
"""


def alive(mark: str) -> list[int]:
    """Processes of this machine whose command line holds the mark."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                if mark.encode() in (place / "cmdline").read_bytes():
                    found.append(int(place.name))
            except OSError:
                continue  # gone meanwhile
    return found


def until(seconds: float, wanted: bool, mark: str) -> bool:
    end = time.monotonic() + seconds
    while bool(alive(mark)) is not wanted and time.monotonic() < end:
        time.sleep(0.05)
    return bool(alive(mark)) is wanted


def test_sigkill_of_the_harness_ends_the_client_and_all_that_it_started(tmp_path: Path) -> None:
    mark = f"31{os.getpid():07d}.5"
    # The client's own child and a daemon beside it; the mark is in neither's parent once the shell has started both.
    work = f"setsid nohup sleep {mark} >/dev/null 2>&1 & exec sleep {mark}"
    with tempfile.TemporaryDirectory() as place:
        environment = os.environ | {"TMPDIR": place, "PYTHONPATH": str(Path(bench.__file__).parent.parent)}
        harness = subprocess.Popen([sys.executable, "-c", PLAY, str(tmp_path), work], env=environment)
        try:
            assert until(120, True, f"sleep\0{mark}"), "the session did not start its work"
            harness.send_signal(signal.SIGKILL)
            harness.wait()
            assert until(10, False, mark), alive(mark)
        finally:
            harness.kill()
            harness.wait()
