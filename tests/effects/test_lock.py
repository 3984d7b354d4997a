"""The workspace lock: one writer, named; gone with its process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.effects import lock
from bench.errors import LockHeld, StorageRefused

HOLD = (
    "import sys; from pathlib import Path; from bench.effects import lock\n"
    "with lock.held(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()\n"
)
WAIT = (
    "import sys; from pathlib import Path; from bench.effects import lock\n"
    "print('waiting', flush=True)\n"
    "with lock.held(Path(sys.argv[1]), wait=True): print('held', flush=True)\n"
)


def start(code: str, path: Path) -> subprocess.Popen[str]:
    home = str(Path(lock.__file__).parents[2])
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", code, str(path)]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=os.environ | {"PYTHONPATH": home})


def test_a_second_holder_is_refused_and_told_who_holds(tmp_path: Path):
    path = tmp_path / "artifacts" / ".lock"
    with start(HOLD, path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockHeld) as caught, lock.held(path):
            pass
        assert f"pid {holder.pid}" in str(caught.value)
        assert "since 2" in str(caught.value)
        assert "'-c " in str(caught.value)
        assert caught.value.exit_code == 3
        holder.kill()
    with lock.held(path):
        pass


def test_waiting_takes_it_when_it_is_let_go(tmp_path: Path):
    path = tmp_path / ".lock"
    with lock.held(path):
        waiter = start(WAIT, path)
        assert waiter.stdout is not None
        assert waiter.stdout.readline() == "waiting\n"
        assert waiter.poll() is None
    out, _ = waiter.communicate()
    assert (out, waiter.returncode) == ("held\n", 0)


def test_it_is_let_go_when_the_block_raises(tmp_path: Path):
    path = tmp_path / ".lock"
    with pytest.raises(RuntimeError), lock.held(path):
        raise RuntimeError
    with lock.held(path):
        pass


@pytest.mark.parametrize("left", [b"", b"{", b"[]", b"\xff", b'{"pid": 1}'])
def test_a_holder_that_left_no_name_is_unknown(tmp_path: Path, left: bytes):
    path = tmp_path / ".lock"
    with start(HOLD, path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        path.write_bytes(left)
        with pytest.raises(LockHeld, match="holder unknown"), lock.held(path):
            pass
        holder.kill()


def test_a_place_that_cannot_be_written_is_a_fault_of_the_storage():
    with pytest.raises((StorageRefused, OSError)) as caught, lock.held(Path("/proc/nowhere/.lock")):
        pass
    assert isinstance(caught.value, StorageRefused | FileNotFoundError)
