"""Why this machine cannot make a sandbox: the exact setting, and what to do about it. Reads settings, changes none."""

from __future__ import annotations

import contextlib
import platform
from pathlib import Path

from bench.errors import SandboxRefused

SETTINGS = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=10000"),
    ("/proc/sys/user/max_mnt_namespaces", "0", "sudo sysctl -w user.max_mnt_namespaces=10000"),
    ("/proc/sys/user/max_pid_namespaces", "0", "sudo sysctl -w user.max_pid_namespaces=10000"),
    ("/proc/sys/user/max_net_namespaces", "0", "sudo sysctl -w user.max_net_namespaces=10000"),
)
"""File, the value that forbids, the command that allows. Ubuntu ≥ 23.10, older Debian, hardened kernels."""


def explain(said: str) -> SandboxRefused:
    """The refusal for what the launcher or bubblewrap said when it could not make a sandbox."""
    what = " ".join(said.split())[-400:] or "the sandbox ended before its command began"
    where, remedy = setting()
    return SandboxRefused(f"no sandbox on this machine ({what})", where=where, remedy=remedy)


def setting() -> tuple[str, str]:
    """`(where, remedy)` of the first setting that forbids user namespaces; a general one when none is found."""
    if platform.system() != "Linux":
        return "", "sessions and verifiers run on Linux alone; plan, why, report and verify work here"
    for path, value, remedy in SETTINGS:
        with contextlib.suppress(OSError):
            if Path(path).read_text().strip() == value:
                return path, remedy
    if Path("/.dockerenv").exists() or _filtered():
        return (
            "the container's seccomp or AppArmor profile",
            "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
            " --security-opt systempaths=unconfined",
        )
    return "", "check that unprivileged user namespaces are allowed (unshare -Ur true)"


def _filtered() -> bool:
    with contextlib.suppress(OSError):
        return "Seccomp:\t2" in Path("/proc/self/status").read_text()
    return False
