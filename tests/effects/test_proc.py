"""The seam for host programs: own process group, small environment, nothing left, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bench.effects import clock, proc
from bench.errors import Cancelled, MissingPart, StepFailed


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    deadline = clock.monotonic() + 10
    while alive(pid) and clock.monotonic() < deadline:
        clock.sleep(0.01)
    return not alive(pid)


def test_output_input_and_exit_status():
    done = proc.run(["sh", "-c", "cat; echo err >&2; exit 3"], stdin=b"in")
    assert (done.exit, done.stdout, done.stderr) == (3, b"in", b"err\n")


def test_a_signal_is_a_negative_status():
    assert proc.run(["sh", "-c", "kill -TERM $$"]).exit == -signal.SIGTERM


def test_large_input_and_output_do_not_block():
    data = b"x" * (1 << 20)
    assert proc.run(["cat"], stdin=data, cancel=threading.Event()).stdout == data


def test_the_environment_is_small_and_what_is_given(tmp_path: Path):
    done = proc.run(["env"], extra_env={"OURS": "1"}, cwd=tmp_path)
    names = {line.split("=", 1)[0] for line in done.stdout.decode().splitlines()}
    assert {"PATH", "LANG", "OURS"} <= names
    assert not names & {"HOME_OF_TESTS", "PYTEST_CURRENT_TEST", "PYTHONPATH"}


def test_a_program_that_is_not_there_or_may_not_run(tmp_path: Path):
    with pytest.raises(MissingPart, match="no program"):
        proc.run(["no-such-program-anywhere"])
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(MissingPart, match="may not be run"):
        proc.run([str(script)])


def test_a_directory_that_is_gone_is_not_taken_for_a_missing_program(tmp_path: Path):
    with pytest.raises(StepFailed, match="sh cannot start: its directory is gone"):
        proc.run(["sh", "-c", "true"], cwd=tmp_path / "gone")


def test_a_timeout_kills_the_whole_group(tmp_path: Path):
    note = tmp_path / "pid"
    with pytest.raises(StepFailed, match="took longer than"):
        proc.run(["sh", "-c", f"sleep 300 & echo $! > {note}; wait"], seconds=1)
    assert gone(int(note.read_text()))


def test_cancel_kills_the_whole_group(tmp_path: Path):
    note, cancel = tmp_path / "pid", threading.Event()

    def stop() -> None:
        while not note.exists() or not note.read_text():
            clock.sleep(0.01)
        cancel.set()

    helper = threading.Thread(target=stop)
    helper.start()
    with pytest.raises(Cancelled):
        proc.run(["sh", "-c", f"sleep 300 & echo $! > {note}; wait"], cancel=cancel)
    helper.join()
    assert gone(int(note.read_text()))


def test_a_child_that_was_left_behind_dies_with_the_program(tmp_path: Path):
    note = tmp_path / "pid"
    proc.run(["sh", "-c", f"sleep 300 >/dev/null 2>&1 & echo $! > {note}"])
    assert gone(int(note.read_text()))


def test_a_program_dies_with_us_even_when_we_are_killed(tmp_path: Path):
    note = tmp_path / "pid"
    code = f"from bench.effects import proc; proc.run(['sh', '-c', 'echo $$ > {note}; exec sleep 300'])"
    env = os.environ | {"PYTHONPATH": str(Path(proc.__file__).parents[2])}
    with subprocess.Popen([sys.executable, "-c", code], env=env) as us:
        while not note.exists() or not note.read_text():
            clock.sleep(0.01)
        us.kill()
    assert gone(int(note.read_text()))


def test_no_descriptor_is_left_open():
    def opened() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = opened()
    for _ in range(5):
        proc.run(["true"])
    assert opened() == before


def test_the_tail_of_a_failure_is_one_line():
    done = proc.run(["sh", "-c", "printf 'one\\ntwo\\n' >&2"])
    assert done.tail() == "one two"
    assert proc.run(["sh", "-c", "printf 'out'"]).tail() == "out"
