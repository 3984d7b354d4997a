"""An agent that uses up the machine takes the other sessions' evidence with it, or passes when a test cannot start.

Incident behind one of these: as root, RLIMIT_NPROC bounds nothing, and a fork bomb in one session ended the whole sweep.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from bench.effects.sandbox import Bind, Finished, Limits, Spec, Workspace, execution, runner
from bench.effects.sandbox.bwrap import Guards
from tests.threats.sandbox.probing import at_once

SMALL = Limits(seconds=120, processes=48, memory_bytes=192 << 20, disk_bytes=48 << 20, open_files=256, file_bytes=64 << 20)
ROOMY = Limits(seconds=120, output_bytes=64 << 20, memory_bytes=1 << 30, disk_bytes=512 << 20, file_bytes=1 << 31)
ENTRIES = replace(SMALL, disk_bytes=2 << 20)
"""For floods of empty files: as many as 48 MiB of them take minutes to delete."""

# What goes beyond the bound comes to `rest()`: bounded, it waits there to be ended; without the bound it leaves well.
START = "import os, sys, time\nrest = lambda: time.sleep(1000) if sys.argv[1] == 'bounded' else os._exit(0)\n"
FORKING = """
for _ in range(7):
    try: os.fork()
    except OSError: time.sleep(1000)
time.sleep(1); rest()
"""
THREADS = """
import threading
for _ in range(100):
    try: threading.Thread(target=time.sleep, args=(1000,)).start()
    except RuntimeError: time.sleep(1000)
rest()
"""
CHILDREN = """
for _ in range(100):
    try:
        if os.fork() == 0: {child}
    except OSError: time.sleep(1000)
rest()
"""
MANY = """
for _ in range(6):
    if os.fork() == 0: hold = os.urandom(1 << 20) * 48; rest()
for _ in range(6): os.wait()
rest()
"""
FILES = """
for n in range(96):
    try:
        with open(f'{place}/{{n}}', 'wb') as f: f.write(bytes(1 << 20))
    except OSError: break
rest()
"""
GROWING = """
with open('/workspace/x', 'wb', buffering=0) as hog:
    try:
        for _ in range(96): hog.write(bytes(1 << 20))
    except OSError: time.sleep(1000)
rest()
"""
DELETED = """
held = []
for n in range(96):
    try:
        held.append(open('{place}/x', 'w+b')); os.unlink('{place}/x'); held[-1].write(bytes(1 << 20)); held[-1].flush()
        {then}
    except OSError: break
rest()
"""
MAPPED = "import mmap; f = held[-1]; held[-1] = mmap.mmap(f.fileno(), 0); f.close()"
FLOOD = "for _ in range(192): os.write({to}, bytes(1 << 16))\n{more}rest()"
DEEP = "os.chdir('/workspace')\nfor _ in range(4000): os.mkdir('d'); os.chdir('d')\nrest()"
CLOSED = "os.mkdir('x'); os.chdir('x'); os.chmod('.', 0o300)"

ENDED = {
    "a fork bomb": (FORKING, "processes", SMALL),
    "children that wait": (CHILDREN.format(child="time.sleep(1000)"), "processes", SMALL),
    "zombies": (CHILDREN.format(child="os._exit(0)"), "processes", SMALL),
    "threads": (THREADS, "processes", SMALL),
    "memory of many": (MANY, "memory", SMALL),
    "a file in the workspace": (GROWING, "disk", SMALL),
    "many files in the workspace": (
        "for n in range(6000): open(f'/workspace/{n}', 'w').close()\nrest()",
        "disk",
        ENTRIES,
    ),
    "folders": ("for n in range(1000): os.mkdir(f'/workspace/{n}')\nrest()", "disk", ENTRIES),
    "a deep tree": (DEEP, "disk", SMALL),
    "files in home": (FILES.format(place="/home/agent"), "disk", SMALL),
    "files in tmp": (FILES.format(place="/tmp"), "disk", SMALL),
    "files in a place to write": (FILES.format(place="/out"), "disk", SMALL),
    "files in a folder without modes": (CLOSED + FILES.format(place="."), "disk", SMALL),
    "deleted files that stay open": (DELETED.format(place="/workspace", then="pass"), "disk", SMALL),
    "deleted files that stay mapped": (DELETED.format(place="/workspace", then=MAPPED), "disk", SMALL),
    "deleted files in tmp": (DELETED.format(place="/tmp", then="pass"), "disk", SMALL),
    "output": (FLOOD.format(to=1, more=""), "output", SMALL),
    "error output": (FLOOD.format(to=2, more=""), "output", SMALL),
    "output of a child": ("child = os.fork()\n" + FLOOD.format(to=1, more="if child: os.wait()\n"), "output", SMALL),
    "the channel": (FLOOD.format(to=3, more=""), "output", SMALL),
}
"""What it does, the bound that ends it, and the limits."""
NOT_SHOWN = {"a deep tree"}
"""No limit allows one: what is too deep to be measured is too much."""

TRACING = """
import ctypes
if os.fork() == 0: ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)
time.sleep(1000)
"""
LATER = """
if os.fork() == 0: time.sleep(4); os.write(1, b'later'); os.kill(-1, 9); os._exit(0)
"""
"""A child that says that the run lives on, and then ends it."""
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
    "memory of one": "hold = bytearray(512 << 20); hold[::4096] = b'x' * len(hold[::4096])",
    "shared memory": "with open('/dev/shm/x', 'wb') as f:\n    for _ in range(1024): f.write(bytes(1 << 20))",
    "files in shared memory": "for n in range(80000): open(f'/dev/shm/{n}', 'w').close()",
    "a core dump": "import resource; resource.setrlimit(resource.RLIMIT_CORE, (1, 1))",
    "locked memory": "import ctypes; assert ctypes.CDLL(None).mlockall(3) == 0; hold = bytearray(512 << 20)",
}
NO_LIMIT = {
    "shared memory": "its size is fixed for every run, and filling the host's own would harm the host",
    "a core dump": "",
    "locked memory": "the kernel's own default is below it, and root's own would harm the host",
}
"""Where no other limit of a run lets it through, and why it is not shown elsewhere either; empty: on the bare host."""


@pytest.fixture
def spec(tmp_path: Path) -> Iterator[Spec]:
    for name in ("template", "home", "tmp", "out"):
        (tmp_path / name).mkdir()
    workspace = Workspace(tmp_path / "template", tmp_path / "upper", runner.choose_backing(tmp_path))
    runner.prepare(workspace)
    yield Spec((), workspace, home=tmp_path / "home", writable=(Bind(tmp_path / "out", "/out"),), channel=True, limits=SMALL)
    runner.discard(workspace)


def hostile(spec: Spec, script: str, limits: Limits = SMALL, word: str = "bounded") -> Finished:
    return runner.run(replace(spec, argv=("python3", "-c", START + script, word), limits=limits))


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDED)
def test_refused(spec: Spec, name: str) -> None:
    """Guards: a control group or resource limits, the watcher of the disk, bounded pipes. The bound is named."""
    script, limit, limits = ENDED[name]
    done = hostile(spec, script, limits)
    assert (done.exit, done.limit) == (None, limit), done.stderr[-400:]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*ENDED} - NOT_SHOWN))
def test_succeeds_without_its_guard(spec: Spec, name: str) -> None:
    """Without: ten times the bound."""
    done = hostile(spec, ENDED[name][0], ROOMY, "free")
    assert (done.exit, done.limit) == (0, None), done.stderr[-400:]


@pytest.fixture(scope="module")
def bounded() -> dict[str, Finished]:
    return at_once(lambda name: hostile(Spec(()), LATER + TIMED[name], replace(SMALL, seconds=2)), TIMED)


@pytest.fixture(scope="module")
def free() -> dict[str, Finished]:
    return at_once(lambda name: hostile(Spec(()), LATER + TIMED[name]), TIMED)


@pytest.mark.slow
@pytest.mark.parametrize("name", TIMED)
def test_refused_more_time(bounded: dict[str, Finished], name: str) -> None:
    """Guard: the harness's own clock, and SIGKILL for pid 1, with which the kernel ends all others."""
    done = bounded[name]
    assert (done.exit, done.limit, done.stdout) == (None, "time", b""), done.stderr[-400:]


@pytest.mark.slow
@pytest.mark.parametrize("name", TIMED)
def test_takes_more_time_without_its_guard(free: dict[str, Finished], name: str) -> None:
    """Without: a time that is long enough."""
    done = free[name]
    assert (done.limit, done.stdout) == (None, b"later"), done.stderr[-400:]


def quick(names: Iterable[str]) -> list[ParameterSet]:
    """As parameters; a flood of files takes its time."""
    return [pytest.param(name, marks=[pytest.mark.slow] * name.startswith("files")) for name in names]


@pytest.mark.parametrize("name", quick(REFUSED))
def test_refused_and_lives_with_it(spec: Spec, name: str) -> None:
    """Guards: resource limits, and a size for every tmpfs."""
    done = hostile(spec, REFUSED[name])
    assert not done.ok
    assert done.limit in (None, "memory", "disk")


@pytest.mark.parametrize("name", quick([name for name in REFUSED if not NO_LIMIT.get(name)]))
def test_is_granted_without_its_guard(spec: Spec, name: str) -> None:
    """Without: larger limits, or the bare host."""
    if name == "files in shared memory":
        made = replace(spec, argv=("python3", "-c", REFUSED[name]), limits=ROOMY)
        assert execution.execute(made, None, None, Guards(counted_shm=False)).ok
    elif name in NO_LIMIT:
        subprocess.run([sys.executable, "-c", REFUSED[name]], check=True)
    else:
        assert hostile(spec, REFUSED[name], ROOMY).ok


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
