"""Outside the sandbox, a script of its own (`python -I -S`): prepares the mounts, starts bubblewrap, bounds and ends it.

Rule: whatever happens, this process ends only when its last descendant is dead, and it dies with the harness. It imports
nothing slow, since its start is part of the start of every session; its two parts come with it (see `plan.BOOT`).

Arguments: descriptors of the marshalled plan (made by `plan.py`), of the report pipe, and of a pipe on which the harness
says `go` once it has put this process into its control groups. One line of report:
`end <cpu seconds> <KiB of the largest process> <limit or ->` or `fault <errno> <what>`.
"""

from __future__ import annotations

import _ctypes
import errno
import marshal
import os
import sys
import time

from bench.effects.sandbox.stage import MS_PRIVATE, MS_REC, Stage, fail, libc, mount
from bench.effects.sandbox.tree import Tree, exceeded

signal = sys.modules["_signal"]  # the C module below `signal`, whose import makes enumerations of it all
TYPE_CHECKING = False  # as typing's own, without importing typing
if TYPE_CHECKING:
    from typing import Any

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_JOIN_SESSION_KEYRING = 1
POLL_S = 0.2
ENDING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def isolate(parent: int, own_keyring: bool) -> None:
    """Die with the harness; adopt orphans; a session keyring, a user and a mount namespace of our own."""
    libc["prctl"](PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc["prctl"](PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.getppid() != parent:
        raise OSError(errno.ESRCH, "the harness ended before its sandbox began")
    if own_keyring:
        joined = libc["syscall"](KEYCTL[os.uname().machine], KEYCTL_JOIN_SESSION_KEYRING, None)
        if joined < 0 and _ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):  # containers forbid keyctl altogether
            fail("cannot join a new session keyring")
    user, group = os.getuid(), os.getgid()
    if libc["unshare"](CLONE_NEWUSER | CLONE_NEWNS) != 0:
        fail("cannot make a user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w") as out:
            out.write(text)
    mount("none", "/", "", MS_REC | MS_PRIVATE)


def start(plan: dict[str, Any]) -> int:
    """Fork bubblewrap, with the environment of the plan, which is empty."""
    child = os.fork()
    if child:
        return child
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execve(plan["argv"][0], plan["argv"], plan["environment"])
    except OSError as error:
        os.write(2, f"cannot start bubblewrap: {error}\n".encode())
    finally:
        os._exit(126)


def supervise(plan: dict[str, Any]) -> str:
    """Wait for the end; end it when told to or when the disk bound is reached. Returns the report."""
    first = start(plan)
    tree, limit, over = Tree(), "-", False
    due = time.monotonic() + POLL_S
    while not tree.reap():
        received = signal.sigtimedwait({signal.SIGCHLD, *ENDING}, 0.02 if over else max(0.0, due - time.monotonic()))
        if received is not None and received.si_signo in ENDING:
            over = True
        if not over and time.monotonic() >= due:  # by the clock: whatever dies meanwhile does not put it off
            limit = exceeded(plan) or "-"
            over, due = limit != "-", time.monotonic() + POLL_S
        if not os.path.exists(f"/proc/{first}"):
            over = True  # bubblewrap is gone: nothing of its tree may outlive it
        if over:
            tree.kill()
    return f"end {tree.cpu:.6f} {tree.largest} {limit}"


def main() -> None:
    """Read the plan, mount, run, report."""
    source, report, go = (int(text) for text in sys.argv[1:4])
    with open(source, "rb") as stream:
        plan = marshal.load(stream)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, *ENDING})
    os.umask(0o022)
    os.set_inheritable(report, False)
    ready = os.read(go, 1)
    os.close(go)
    if not ready:
        return  # the harness gave up meanwhile
    try:
        isolate(plan["parent"], plan["own_keyring"])
        stage = Stage(plan["stage"], plan["paths"])
        for name, *arguments in plan["steps"]:
            getattr(stage, name)(*arguments)
        line = supervise(plan)
    except OSError as error:
        line = f"fault {error.errno or 0} {error.strerror or error} {error.filename or ''}"
    os.write(report, line.encode("utf-8", "replace"))
