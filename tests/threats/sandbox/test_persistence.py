"""What outlives a session can grade it. Incidents behind these: a daemon that rewrote the verdict while the tests ran, and
a note in /tmp through which one session told the next the answer.
"""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.effects.sandbox import Finished, Limits, Spec, Workspace, runner
from tests.threats.sandbox.probing import Attempt, Probe, at_once

PYTHON = "/opt/python/bin/python3"


@contextlib.contextmanager
def room(home: Path) -> Iterator[Workspace]:
    (home / "template").mkdir(parents=True)
    (home / "template" / "verdict").write_text("fail")
    made = Workspace(home / "template", home / "upper", runner.choose_backing(home))
    runner.prepare(made)
    yield made
    runner.discard(made)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with room(tmp_path) as made:
        yield made


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


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int | None, bool, bytes]]:
    """The session's status, whether its daemon lives on, and the verdict as it is while the grading goes on."""

    def one(name: str) -> tuple[int | None, bool, bytes]:
        mark = f"daemon-{secrets.token_hex(6)}"
        with room(tmp_path_factory.mktemp("ended")) as made:
            status = sh(f"{DAEMONS[name]}\nexit 0", made, mark).exit
            left = any(mark.encode() in _line(p) for p in Path("/proc").glob("[0-9]*/cmdline"))
            return status, left, sh("sleep 4; cat verdict", replace(made, frozen=True)).stdout

    return at_once(one, DAEMONS)


@pytest.mark.slow
@pytest.mark.parametrize("name", DAEMONS)
def test_refused(ended: dict[str, tuple[int | None, bool, bytes]], name: str) -> None:
    """Guard: no daemon reaches the grading: a namespace of processes ends with its pid 1, which ends with the command."""
    assert ended[name] == (0, False, b"fail")


@pytest.fixture(scope="module")
def going_on(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    waiting = "for i in $(seq 200); do grep pass verdict && break; sleep 0.1; done"

    def one(name: str) -> bytes:
        with room(tmp_path_factory.mktemp("going-on")) as made:
            return sh(f"{DAEMONS[name]}\n{waiting}", made, "daemon").stdout

    return at_once(one, DAEMONS)


@pytest.mark.slow
@pytest.mark.parametrize("name", DAEMONS)
def test_succeeds_without_its_guard(going_on: dict[str, bytes], name: str) -> None:
    """Within the run, before the namespace ends, the daemon does what it is for."""
    assert going_on[name].startswith(b"pass")


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
"""The others are not shown: there no note can be written at all (see test_writing)."""


@pytest.mark.parametrize("name", NOTES)
def test_note_refused(tmp_path: Path, workspace: Workspace, name: str) -> None:
    """Guards: home, tmp and shared memory are the run's own; everything else is read-only or a namespace that ends."""
    write, look = NOTES[name]
    sh(write, workspace)
    other = replace(workspace, upper=tmp_path / "other")
    runner.prepare(other)
    done = sh(f"({look}) >/dev/null 2>&1 && echo found", other)
    runner.discard(other)
    assert done.stdout == b""


@pytest.mark.parametrize("name", SEEN_AT_ONCE)
def test_note_is_found_without_its_guard(workspace: Workspace, name: str) -> None:
    """Within one run, where home, tmp, memory and namespaces are shared."""
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
    left = Probe(("kernel",), {"keyrings": Attempt("PermissionError")}, {}, tmp_path)
    left.refused("keyrings")


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
