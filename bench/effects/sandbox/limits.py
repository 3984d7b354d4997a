"""Bounds on processes and memory: a control group of one run where this machine lets us make one, else resource limits.

Rule: fail closed. Control groups v2 and v1 are used where the directory of our own group is writable. Otherwise the
number of processes is bounded by RLIMIT_NPROC, which the kernel counts per user namespace since 5.14 but which does not
bind root; so root without writable control groups is refused.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import platform
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.effects import clock
from bench.effects.sandbox import Limits
from bench.errors import SandboxRefused

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = ("pids", "memory")
MARK = "assay-"
SWEEP_S = 60
"""Younger groups may be somebody's who has not entered yet, in another namespace of processes."""
OWN_PROCESSES = 3
"""The launcher, bubblewrap and pid 1 are in the group too."""
OWN_BYTES = 32 << 20
"""What those three need."""
_numbers = itertools.count()

# controller: (bound, what counts a hit, the word before the count; "" = the whole file is the count), v1 then v2.
FILES_V1 = {
    "pids": ("pids.max", "pids.events", "max"),
    "memory": ("memory.limit_in_bytes", "memory.oom_control", "oom_kill"),
}
FILES_V2 = {"pids": ("pids.max", "pids.events", "max"), "memory": ("memory.max", "memory.events", "oom_kill")}
NAMES = {"pids": "processes", "memory": "memory"}


@dataclass(frozen=True, slots=True)
class Group:
    """The control groups of one run: controller → its directory (the same one twice in v2)."""

    folders: dict[str, Path]
    files: dict[str, tuple[str, str, str]]

    def admit(self, number: int) -> None:
        """Move a process into the groups; what it starts from then on is born there."""
        for folder in dict.fromkeys(self.folders.values()):
            (folder / "cgroup.procs").write_text(str(number))

    def hit(self) -> str | None:
        """Which bound was reached so far, if any."""
        for controller, folder in self.folders.items():
            _bound, events, word = self.files[controller]
            with contextlib.suppress(OSError):
                found = re.search(rf"^{word} (\d+)$", (folder / events).read_text(), re.MULTILINE)
                if found and found[1] != "0":
                    return NAMES[controller]
        return None

    def peak(self) -> int | None:
        """Most bytes of memory in use at one time, where the kernel tells."""
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            with contextlib.suppress(OSError, ValueError):
                return int((self.folders["memory"] / name).read_text())
        return None


@functools.cache
def homes() -> tuple[dict[str, Path], bool] | None:
    """Where groups can be made: controller → directory, and whether it is v2; None where nowhere.

    Our own group if it can have children, else the nearest above it that can: in v2 a group with processes cannot.
    """
    own: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _number, controllers, path = line.split(":", 2)
            own |= {name: path for name in controllers.split(",")}
    if set(CONTROLLERS) <= set(own):
        first = {c: _nearest(ROOT / c, own[c], {c: FILES_V1[c]}) for c in CONTROLLERS}
        found = {c: folder for c, folder in first.items() if folder}
        return (found, False) if len(found) == len(CONTROLLERS) else None
    second = _nearest(ROOT, own.get("", "/"), FILES_V2)
    return (dict.fromkeys(CONTROLLERS, second), True) if second else None


def _nearest(root: Path, path: str, names: dict[str, tuple[str, str, str]]) -> Path | None:
    place = root / path.lstrip("/")
    for folder in (place, *place.parents):
        if (names is not FILES_V2 or _delegated(folder)) and _usable(dict.fromkeys(names, folder), names):
            return folder
        if folder == root:
            break
    return None


def _delegated(folder: Path) -> bool:
    # A group may bound its children only by the controllers that it passes on.
    with contextlib.suppress(OSError):
        control = folder / "cgroup.subtree_control"
        if not set(CONTROLLERS) <= set(control.read_text().split()):
            control.write_text("+pids +memory")
        return True
    return False


def _usable(folders: dict[str, Path], names: dict[str, tuple[str, str, str]]) -> bool:
    try:
        with (
            _made(folders, names, Limits()) as group,
            subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, env={}) as child,
        ):
            group.admit(child.pid)
        return True
    except OSError:
        return False


@contextlib.contextmanager
def _made(folders: dict[str, Path], names: dict[str, tuple[str, str, str]], limits: Limits) -> Iterator[Group]:
    name = f"{MARK}{os.getpid()}-{next(_numbers)}"
    group = Group({controller: folder / name for controller, folder in folders.items()}, names)
    bounds = {"pids": limits.processes + OWN_PROCESSES, "memory": limits.memory_bytes + OWN_BYTES}
    try:
        for controller, folder in group.folders.items():
            folder.mkdir(exist_ok=True)
            (folder / names[controller][0]).write_text(str(bounds[controller]))
            with contextlib.suppress(OSError):  # absent where swap is not accounted
                if controller == "memory" and names is FILES_V2:
                    (folder / "memory.swap.max").write_text("0")
        yield group
    finally:
        for folder in dict.fromkeys(group.folders.values()):
            with contextlib.suppress(OSError):
                folder.rmdir()


@contextlib.contextmanager
def group(limits: Limits) -> Iterator[Group | None]:
    """The control group of one run, gone afterwards; None where resource limits must do (`check` says whether they can)."""
    found = homes()
    if found is None:
        check()
        yield None
        return
    folders, second = found
    _sweep(folders)
    with _made(folders, FILES_V2 if second else FILES_V1, limits) as made:
        yield made


def _sweep(folders: dict[str, Path]) -> None:
    # Groups of a harness that was killed: only of a process that no longer exists, and only when empty (rmdir says so).
    for folder in dict.fromkeys(folders.values()):
        for left in folder.glob(f"{MARK}*"):
            owner = left.name.removeprefix(MARK).split("-")[0]
            with contextlib.suppress(OSError):
                old = clock.now_utc().timestamp() - left.stat().st_mtime > SWEEP_S
                if old and not Path("/proc", owner).exists():
                    left.rmdir()


def is_root() -> bool:
    """Whether this user is root of the machine, not only of a namespace (as in a rootless container)."""
    if os.getuid() != 0:
        return False
    inside, outside, _length = Path("/proc/self/uid_map").read_text().split()[:3]
    return (inside, outside) == ("0", "0")


def check() -> None:
    """Raise SandboxRefused where neither control groups nor resource limits can bound the number of processes."""
    if homes() is not None:
        return
    if is_root():
        raise SandboxRefused(
            "no writable control group, and resource limits do not bind root",
            where="/sys/fs/cgroup",
            remedy="run as an ordinary user, or mount control groups writable (docker run --cgroupns=private, privileged)",
        )
    release = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
    if release < (5, 14):
        raise SandboxRefused(
            f"Linux {platform.release()} counts RLIMIT_NPROC over all processes of a user, and no control group is writable",
            remedy="use Linux 5.14 or later, or delegate a control group with pids and memory to this user",
        )
