"""An agent that uses up the machine takes the other sessions' evidence with it, or passes when a test cannot start.

Incident behind one of these: as root, RLIMIT_NPROC bounds nothing, and a fork bomb in one session ended the whole sweep.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.effects.sandbox import Bind, Finished, Limits, Spec, Workspace, runner

SMALL = Limits(seconds=120, processes=48, memory_bytes=192 << 20, disk_bytes=48 << 20, open_files=256, file_bytes=64 << 20)

THREADS = """
import threading
while True:
    try: threading.Thread(target=time.sleep, args=(1000,)).start()
    except RuntimeError: time.sleep(1000)
"""
CHILDREN = """
while True:
    try:
        if os.fork() == 0: {child}
    except OSError: time.sleep(1000)
"""
MANY = """
for _ in range(6):
    if os.fork() == 0: hold = os.urandom(1 << 20) * 48; time.sleep(1000)
time.sleep(1000)
"""
FILES = """
for n in range(1000):
    try:
        with open(f'{place}/{{n}}', 'wb') as f: f.write(bytes(1 << 20))
    except OSError: break
time.sleep(1000)
"""
GROWING = """
with open('/workspace/x', 'wb', buffering=0) as hog:
    try:
        while True: hog.write(bytes(1 << 20))
    except OSError: time.sleep(1000)
"""
DELETED = """
held = []
for n in range(200):
    try:
        held.append(open('{place}/x', 'w+b')); os.unlink('{place}/x'); held[-1].write(bytes(1 << 20)); held[-1].flush()
        {then}
    except OSError: break
time.sleep(1000)
"""
MAPPED = "import mmap; f = held[-1]; held[-1] = mmap.mmap(f.fileno(), 0); f.close()"
FLOOD = "while True: os.write({to}, bytes(1 << 16))"

ENDED = {
    "a fork bomb": ("while True:\n    try: os.fork()\n    except OSError: pass", "processes"),
    "children that wait": (CHILDREN.format(child="time.sleep(1000)"), "processes"),
    "zombies": (CHILDREN.format(child="os._exit(0)"), "processes"),
    "threads": (THREADS, "processes"),
    "memory of many": (MANY, "memory"),
    "a file in the workspace": (GROWING, "disk"),
    "many files in the workspace": ("n = 0\nwhile True: open(f'/workspace/{n}', 'w').close(); n += 1", "disk"),
    "folders": ("n = 0\nwhile True: os.mkdir(f'/workspace/{n}'); n += 1", "disk"),
    "a deep tree": ("os.chdir('/workspace')\nfor _ in range(4000): os.mkdir('d'); os.chdir('d')\ntime.sleep(1000)", "disk"),
    "files in home": (FILES.format(place="/home/agent"), "disk"),
    "files in tmp": (FILES.format(place="/tmp"), "disk"),
    "files in a place to write": (FILES.format(place="/out"), "disk"),
    "files in a folder without modes": (
        "os.mkdir('x'); os.chdir('x'); os.chmod('.', 0o300)" + FILES.format(place="."),
        "disk",
    ),
    "deleted files that stay open": (DELETED.format(place="/workspace", then="pass"), "disk"),
    "deleted files that stay mapped": (DELETED.format(place="/workspace", then=MAPPED), "disk"),
    "deleted files in tmp": (DELETED.format(place="/tmp", then="pass"), "disk"),
    "output": (FLOOD.format(to=1), "output"),
    "error output": (FLOOD.format(to=2), "output"),
    "output of a child": ("if os.fork() == 0:\n    " + FLOOD.format(to=1) + "\ntime.sleep(1000)", "output"),
    "the channel": (FLOOD.format(to=3), "output"),
}
"""What it does, and the bound that ends it."""

TRACING = """
import ctypes
if os.fork() == 0: ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)
time.sleep(1000)
"""
TIMED = {
    "sleeping": "time.sleep(1000)",
    "being busy": "while True: pass",
    "being busy in many": "for _ in range(4): os.fork()\nwhile True: pass",
    "stopping itself": "os.kill(os.getpid(), 19)",
    "ignoring signals": "import signal as s\nfor n in {*range(1, 32)} - {9, 19}: s.signal(n, s.SIG_IGN)\ntime.sleep(1000)",
    "closing its outputs": "os.close(1); os.close(2); time.sleep(1000)",
    "waiting for input": "import sys; os.close(0); r, w = os.pipe(); os.read(r, 1)",
    "a lock that nobody frees": "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "a child that traces it": TRACING,
}

REFUSED = {
    "open files": "held = [open('/dev/null') for _ in range(400)]",
    "a file beyond its size": "with open('/tmp/x', 'wb') as f: f.truncate(1 << 30)",
    "shared memory": "with open('/dev/shm/x', 'wb') as f:\n    for _ in range(1024): f.write(bytes(1 << 20))",
    "a core dump": "import resource; assert resource.getrlimit(resource.RLIMIT_CORE)[0] > 0",
    "locked memory": "import ctypes; assert ctypes.CDLL(None).mlockall(3) == 0; hold = bytearray(512 << 20)",
}


@pytest.fixture
def spec(tmp_path: Path) -> Iterator[Spec]:
    for name in ("template", "home", "tmp", "out"):
        (tmp_path / name).mkdir()
    workspace = Workspace(tmp_path / "template", tmp_path / "upper", runner.choose_backing(tmp_path))
    runner.prepare(workspace)
    yield Spec((), workspace, home=tmp_path / "home", writable=(Bind(tmp_path / "out", "/out"),), channel=True, limits=SMALL)
    runner.discard(workspace)


def hostile(spec: Spec, script: str, limits: Limits = SMALL) -> Finished:
    return runner.run(replace(spec, argv=("python3", "-c", f"import os, time\n{script}"), limits=limits))


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDED)
def test_the_run_is_ended_and_the_bound_is_named(spec: Spec, name: str) -> None:
    """Guards: a control group or resource limits, the watcher of the disk, bounded pipes."""
    script, limit = ENDED[name]
    done = hostile(spec, script)
    assert (done.exit, done.limit) == (None, limit), done.stderr[-400:]


@pytest.mark.slow
@pytest.mark.parametrize("name", TIMED)
def test_the_time_is_the_harness_s_to_keep(spec: Spec, name: str) -> None:
    """Guard: the harness's own clock, and SIGKILL for pid 1, with which the kernel ends all others."""
    done = hostile(spec, TIMED[name], replace(SMALL, seconds=2))
    assert (done.exit, done.limit) == (None, "time"), done.stderr[-400:]


@pytest.mark.parametrize("name", REFUSED)
def test_the_command_is_refused_and_lives_with_it(spec: Spec, name: str) -> None:
    """Guards: resource limits, and a size for every tmpfs."""
    done = hostile(spec, REFUSED[name])
    assert not done.ok
    assert done.limit in (None, "memory", "disk")


@pytest.mark.slow
def test_other_sandboxes_go_on_beside_a_fork_bomb(spec: Spec) -> None:
    """Guard: the bound on processes is each run's own."""
    seen: list[bool] = []

    def watch(stream: str, data: bytes) -> None:
        seen.append(runner.run(Spec(("sh", "-c", "true | true | true"), limits=SMALL)).ok)

    bomb = "os.write(1, b'now')\nfor _ in range(40):\n    if os.fork() == 0: time.sleep(1000)\ntime.sleep(3)"
    runner.run(replace(spec, argv=("python3", "-c", f"import os, time\n{bomb}")), watch=watch)
    assert seen == [True]


@pytest.mark.slow
def test_nothing_of_a_bomb_is_left(spec: Spec) -> None:
    """Guard: the launcher ends only when its last descendant is dead, and the control group is taken away."""
    mark = f"bomb-{os.getpid()}-{secrets.token_hex(4)}"
    runner.run(
        replace(
            spec, argv=("python3", "-c", f"import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n#{mark}")
        )
    )
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _line(p)]
    assert not [p for p in Path("/sys/fs/cgroup").glob(f"**/assay-{os.getpid()}-*") if p.is_dir()]


def _line(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
