"""Control groups, read from files that look like the kernel's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.effects.sandbox import Limits, limits


@pytest.mark.parametrize(
    ("version", "files", "hit"),
    [
        ("v2", {"pids.events": "max 0\n", "memory.events": "low 0\noom 0\noom_kill 0\n"}, None),
        ("v2", {"pids.events": "max 3\n", "memory.events": "oom_kill 0\n"}, "processes"),
        ("v2", {"pids.events": "max 0\n", "memory.events": "max 9\noom 2\noom_kill 1\noom_group_kill 0\n"}, "memory"),
        ("v2", {"pids.events": "max 0\n", "memory.events": "max 9\noom 2\noom_kill 0\n"}, None),
        (
            "v1",
            {"pids.events": "max 1\n", "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n"},
            "processes",
        ),
        ("v1", {"pids.events": "max 0\n", "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"}, "memory"),
        ("v1", {}, None),
    ],
)
def test_the_bound_that_was_hit_is_named(tmp_path: Path, version: str, files: dict[str, str], hit: str | None) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    names = limits.FILES_V2 if version == "v2" else limits.FILES_V1
    assert limits.Group(dict.fromkeys(limits.CONTROLLERS, tmp_path), names).hit() == hit


@pytest.mark.parametrize("name", ["memory.peak", "memory.max_usage_in_bytes"])
def test_the_peak_is_read_where_the_kernel_tells(tmp_path: Path, name: str) -> None:
    group = limits.Group(dict.fromkeys(limits.CONTROLLERS, tmp_path), limits.FILES_V2)
    assert group.peak() is None
    (tmp_path / name).write_text("12345\n")
    assert group.peak() == 12345


def test_a_group_is_gone_after_its_run() -> None:
    with limits.group(Limits()) as group:
        folders = set(group.folders.values()) if group else set()
        assert all(folder.is_dir() for folder in folders)
    assert not any(folder.exists() for folder in folders)


def test_this_machine_bounds_processes() -> None:
    limits.check()


NO_GROUPS = """
import ctypes, sys
libc = ctypes.CDLL(None)
if libc.unshare(0x20000) or libc.mount(None, b"/", None, 0x44000, None):
    sys.exit("cannot hide them here")
assert libc.mount(b"none", b"/sys/fs/cgroup", b"tmpfs", 0, None) == 0
from bench.effects.sandbox import limits
from bench.errors import SandboxRefused
try:
    limits.check()
    print("bounded")
except SandboxRefused as refused:
    print(refused.what)
"""


def test_root_without_a_control_group_is_refused_and_nobody_else() -> None:
    """See docs/decisions/009: RLIMIT_NPROC does not bind the machine's root."""
    done = subprocess.run([sys.executable, "-c", NO_GROUPS], capture_output=True, text=True, check=False)
    if os.getuid() == 0 and "cannot hide" not in done.stderr:
        assert done.stdout == "no writable control group, and resource limits do not bind root\n", done.stderr
    else:
        limits.check()
