"""How a run in a sandbox ends, on every backing: its status, its bounds, and the death of all its processes."""

from __future__ import annotations

import os
import secrets
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from bench.effects.sandbox import PYTHON, Limits, Spec, Workspace, runner
from tests.conformance.sandboxing import frozen, python, sh


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("nonexistent-program", 127), ("/etc", 126)],
)
def test_the_exit_status_is_the_command_s(workspace: Workspace, script: str, status: int) -> None:
    done = sh(script, workspace)
    assert (done.exit, done.limit, done.ok) == (status, None, status == 0)


def test_a_program_that_is_not_there_is_the_command_s_failure(workspace: Workspace) -> None:
    done = runner.run(Spec(("nonexistent",), workspace))
    assert (done.exit, done.stderr) == (127, b"nonexistent: not found\n")


def test_usage_is_told(workspace: Workspace) -> None:
    done = python("x = bytearray(64 << 20); sum(range(3_000_000))", workspace)
    assert done.cpu_seconds is not None
    assert done.cpu_seconds > 0
    assert done.memory_peak is not None
    assert done.memory_peak > 48 << 20


BOUNDS = {
    "time": ("sleep 1000", Limits(seconds=1)),
    "output": ("yes", Limits(output_bytes=1 << 20)),
    "error output": ("yes >&2", Limits(output_bytes=1 << 20)),
    "channel": ("yes >&$ASSAY_CHANNEL", Limits(output_bytes=1 << 20)),
    "disk": ("dd if=/dev/zero of=big bs=1M count=64 2>/dev/null; sleep 1000", Limits(disk_bytes=32 << 20)),
    "disk in tmp": ("dd if=/dev/zero of=/tmp/big bs=1M count=64 2>/dev/null; sleep 1000", Limits(disk_bytes=32 << 20)),
    "disk by many files": ("mkdir m; cd m; seq 300000 | xargs touch; sleep 1000", Limits(disk_bytes=32 << 20)),
    "disk by one large file": ("exec dd if=/dev/zero of=big bs=1M count=64", Limits(file_bytes=8 << 20)),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_bound_that_ended_a_run_is_named(workspace: Workspace, name: str) -> None:
    script, limits = BOUNDS[name]
    done = sh(script, workspace, limits=limits, channel=True)
    assert done.limit == {"error output": "output", "channel": "output"}.get(name, name.split()[0])
    assert not done.ok
    assert all(len(stream) <= limits.output_bytes for stream in (done.stdout, done.stderr, done.channel))


HOGS = {
    "processes": """
import os, time
while True:
    try:
        if os.fork() == 0:
            break
    except OSError:
        break
time.sleep(1000)
""",
    "memory": """
import os, time
for _ in range(4):
    if os.fork() == 0:
        block = os.urandom(1 << 20) * 48
        break
time.sleep(1000)
""",
}


@pytest.mark.parametrize("name", HOGS)
def test_processes_and_memory_are_bounded_over_the_whole_tree(workspace: Workspace, name: str) -> None:
    done = python(HOGS[name], workspace, limits=Limits(seconds=120, processes=40, memory_bytes=128 << 20))
    assert (done.exit, done.limit) == (None, name)


def test_a_layer_too_deep_to_measure_counts_as_full(workspace: Workspace) -> None:
    script = "import os, time\nfor _ in range(1500):\n    os.mkdir('d'); os.chdir('d')\ntime.sleep(1000)"
    assert python(script, workspace, limits=Limits(seconds=120)).limit == "disk"


def test_what_the_template_holds_is_no_growth(workspace: Workspace, tmp_path: Path) -> None:
    (workspace.template / "large").write_bytes(os.urandom(8 << 20))
    room = replace(workspace, upper=tmp_path / "large")
    runner.prepare(room)
    for view_ in (room, frozen(room)):
        assert sh("sleep 1", view_, limits=Limits(disk_bytes=4 << 20)).ok
    runner.discard(room)


def test_cancelling_ends_a_run(workspace: Workspace) -> None:
    cancel = threading.Event()
    seen: list[bytes] = []

    def watch(stream: str, data: bytes) -> None:
        seen.append(data)
        cancel.set()

    done = runner.run(Spec(("sh", "-c", "echo up; sleep 1000"), workspace), cancel=cancel, watch=watch)
    assert (done.exit, done.limit, seen) == (None, "cancelled", [b"up\n"])


def test_a_run_that_is_cancelled_before_it_begins_leaves_nothing(workspace: Workspace, tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    done = runner.run(Spec(("sleep", "1000"), frozen(workspace)), cancel=cancel)
    assert (done.exit, done.limit) == (None, "cancelled")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["template", "upper"]


DAEMON = "import os; os.fork() and os._exit(0); os.setsid(); os.fork() or os.execlp('sleep', 'sleep', '$1')"
LINGERERS = {
    "in the background": "sleep $1 &",
    "in a session of its own": "setsid sleep $1 </dev/null >/dev/null 2>&1 &",
    "daemonised": f'{PYTHON} -c "{DAEMON}"',
    "deaf to signals": "(trap '' TERM INT HUP; sleep $1; sleep $1) &",
    "stopped": "sleep $1 & kill -STOP $!",
}


@pytest.mark.parametrize("name", LINGERERS)
@pytest.mark.parametrize("end", ["exit 0", "sleep 1000"])
def test_no_process_outlives_a_run(workspace: Workspace, name: str, end: str) -> None:
    mark = f"4321.{secrets.randbelow(10**9)}"
    limits = Limits(seconds=2) if "sleep" in end else Limits()
    done = runner.run(Spec(("sh", "-c", f"{LINGERERS[name]}\n{end}", "sh", mark), workspace, limits=limits))
    assert done.limit == ("time" if "sleep" in end else None)
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _line(p)]


def _line(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
