"""What outlives a session can grade it. Incidents behind these: a daemon that rewrote the verdict while the tests ran, and
a note in /tmp through which one session told the next the answer.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.effects.sandbox import Finished, Limits, Spec, Workspace, runner
from tests.threats.sandbox.probing import inside

PYTHON = "/opt/python/bin/python3"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "template").mkdir()
    (tmp_path / "template" / "verdict").write_text("fail")
    made = Workspace(tmp_path / "template", tmp_path / "upper", runner.choose_backing(tmp_path))
    runner.prepare(made)
    yield made
    runner.discard(made)


def sh(script: str, workspace: Workspace | None, *words: str) -> Finished:
    return runner.run(Spec(("sh", "-c", script, "sh", *words), workspace, limits=Limits(seconds=60)))


LATER = 'time.sleep(3); open("/workspace/verdict", "w").write("pass")'
WAITING = f"import os, time\nif os.fork() == 0:\n while os.getppid() != 1: pass\n {LATER}"
TWICE = f"import os, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0: {LATER}"
DAEMONS = {
    "in the background": "(sleep 3; echo pass > verdict; : $1) &",
    "in a session of its own": "setsid sh -c 'sleep 3; echo pass > verdict; : $1' sh $1 </dev/null >/dev/null 2>&1 &",
    "deaf to hanging up": "nohup sh -c 'sleep 3; echo pass > verdict; : $1' sh $1 >/dev/null 2>&1 &",
    "deaf to every signal": "(trap '' TERM INT HUP QUIT USR1 USR2 PIPE; sleep 3; echo pass > verdict; : $1) &",
    "with its outputs closed": "(exec <&- >&- 2>&-; sleep 3; echo pass > /workspace/verdict; : $1) &",
    "in another directory": "(cd /; sleep 3; echo pass > /workspace/verdict; : $1) &",
    "waiting for its parent": f"{PYTHON} -c '{WAITING}' $1 &",
    "twice forked": f"{PYTHON} -c '{TWICE}' $1",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DAEMONS)
def test_no_daemon_reaches_the_grading(workspace: Workspace, name: str) -> None:
    """Guard: a namespace of processes ends with its pid 1, which ends with the command."""
    mark = f"daemon-{secrets.token_hex(6)}"
    assert sh(f"{DAEMONS[name]}\nexit 0", workspace, mark).exit == 0
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _line(p)]
    graded = sh("sleep 4; cat verdict", replace(workspace, frozen=True))
    assert graded.stdout == b"fail"


@pytest.mark.slow
@pytest.mark.parametrize("name", DAEMONS)
def test_the_daemon_reaches_the_rest_of_its_own_run(workspace: Workspace, name: str) -> None:
    """So that the test above does not pass for want of a daemon."""
    waiting = "for i in $(seq 200); do grep pass verdict && break; sleep 0.1; done"
    assert sh(f"{DAEMONS[name]}\n{waiting}", workspace, "daemon").stdout.startswith(b"pass")


def _line(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


LISTENING = 'import socket, time; s = socket.socket(1); s.bind("\\0note"); s.listen(); time.sleep(60)'
CALLING = 'import socket; socket.socket(1).connect("\\0note")'
NOTES = {
    "in tmp": ("echo x > /tmp/note", "cat /tmp/note"),
    "in home": ("echo x > ~/.profile", "cat ~/.profile"),
    "in shared memory": ("echo x > /dev/shm/note", "cat /dev/shm/note"),
    "in a System V segment": ("ipcmk -M 64 >/dev/null", "ipcs -m | grep 0x"),
    "in a message queue": (
        "python -c 'import ctypes; print(ctypes.CDLL(None).mq_open(b\"/note\", 66, 384, None))'",
        "python -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).mq_open(b\"/note\", 2) < 0)'",
    ),
    "in the run directory": ("echo x > /run/note", "cat /run/note"),
    "in var": ("mkdir -p /var/tmp; echo x > /var/tmp/note", "cat /var/tmp/note"),
    "in the dependencies": ("echo x > /opt/deps/note.py", "cat /opt/deps/note.py"),
    "in the interpreter": ("echo x > /opt/python/lib/note.py", "cat /opt/python/lib/note.py"),
    "in its compiled modules": (
        "find /opt/python -name __pycache__ | head -1 | xargs -I@ touch @/note",
        "find /opt/python -name note | grep .",
    ),
    "in an abstract socket": (f"python -c '{LISTENING}' &", f"python -c '{CALLING}'"),
}
SEEN_AT_ONCE = [name for name in NOTES if name.split()[1] not in ("the", "var", "its")]
"""Where a note can be written at all."""


@pytest.mark.parametrize("name", NOTES)
def test_one_session_leaves_no_note_for_the_next(tmp_path: Path, workspace: Workspace, name: str) -> None:
    """Guards: home, tmp and shared memory are the run's own; everything else is read-only or a namespace that ends."""
    write, look = NOTES[name]
    sh(write, workspace)
    other = replace(workspace, upper=tmp_path / "other")
    runner.prepare(other)
    done = sh(f"({look}) >/dev/null 2>&1 && echo found", other)
    runner.discard(other)
    assert done.stdout == b""


@pytest.mark.parametrize("name", SEEN_AT_ONCE)
def test_the_note_is_found_within_one_run(workspace: Workspace, name: str) -> None:
    """So that the test above does not pass for want of a note."""
    write, look = NOTES[name]
    done = sh(
        f"{write}\nfor i in $(seq 100); do ({look}) >/dev/null 2>&1 && echo found && break; sleep 0.1; done", workspace
    )
    assert done.stdout.endswith(b"found\n")


def test_what_a_frozen_run_writes_is_gone(workspace: Workspace) -> None:
    """Guard: a throw-away layer: one verifier tells the next nothing."""
    frozen = replace(workspace, frozen=True)
    assert sh("echo pass > verdict; echo x > note; cat verdict", frozen).stdout == b"pass\n"
    assert sh("cat verdict; ls", frozen).stdout == b"failverdict\n"
    assert sh("cat verdict; ls", workspace).stdout == b"failverdict\n"


def test_two_frozen_runs_at_once_do_not_meet(workspace: Workspace) -> None:
    """Guard: each has a layer of its own."""
    frozen = replace(workspace, frozen=True)
    seen: list[bytes] = []

    def watch(stream: str, data: bytes) -> None:
        seen.append(runner.run(Spec(("cat", "verdict"), frozen)).stdout)

    runner.run(Spec(("sh", "-c", "echo pass > verdict; echo now; sleep 2"), frozen), watch=watch)
    assert seen == [b"fail"]


def test_a_key_in_a_keyring_is_not_left(tmp_path: Path) -> None:
    """Guard: seccomp refuses add_key, and each run has a session keyring of its own."""
    outcomes, _done = inside("escape", {}, only=["keyrings"])
    assert not outcomes["keyrings"].gained


def test_a_harness_that_is_killed_takes_its_sandbox_with_it(tmp_path: Path) -> None:
    """Guard: parent-death signals, from the launcher down to pid 1."""
    mark = f"sandbox-of-the-dead-{secrets.token_hex(6)}"
    script = f"from bench.effects.sandbox import Spec, runner\nrunner.run(Spec(('sh', '-c', 'sleep 1000; : {mark}')))"
    with subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[3]) as harness:
        while not [p for p in Path("/proc").glob("[0-9]*/cmdline") if f": {mark}\0".encode() in _line(p)]:
            assert harness.poll() is None
        harness.kill()
    for _ in range(600):
        left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _line(p)]
        if not left:
            break
        time.sleep(0.05)
    assert not left
