"""Pid 1 of every sandbox, a script of its own (`python -I -S`) run by the interpreter inside.

Rule: nobody inside can read, trace, stop or speak for this process. It is undumpable, so its memory, descriptors and
environment are closed to others of the same user; it ignores signals; the pipe on which it reports how the command ended
is close-on-exec. The command runs in a session of its own, and everything else dies with this process. It never follows
a link when it takes paths out of the view, and it never reads the environment.

Arguments: descriptors of the marshalled order, of the report pipe, and of the command's channel (or -1). The report:
`S` once the command is about to start, then `E <status>`, 128+n for a signal.
"""

from __future__ import annotations

import _ctypes
import errno
import marshal
import os
import resource
import stat
import sys

# The C modules below `ctypes` and `signal`: importing those two took longer than all the rest of this start.
signal = sys.modules["_signal"]
TYPE_CHECKING = False  # as typing's own, without importing typing
if TYPE_CHECKING:
    from typing import Any, NoReturn

PR_SET_DUMPABLE = 4
CHANNEL = 3
LIMITS = {
    "file_bytes": resource.RLIMIT_FSIZE,
    "open_files": resource.RLIMIT_NOFILE,
    "processes": resource.RLIMIT_NPROC,
    "data_bytes": resource.RLIMIT_DATA,
    "core_bytes": resource.RLIMIT_CORE,
}


def harden(keep: list[int], order: dict[str, Any]) -> None:
    """Before any process of the command exists: closed to others, deaf to signals, no descriptor too many."""
    prctl = _ctypes.dlsym(_ctypes.dlopen("libc.so.6", 0), "prctl")
    if order["undumpable"] and _ctypes.call_function(prctl, (PR_SET_DUMPABLE, 0, 0, 0, 0)) != 0:
        os._exit(125)
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    for number in [int(name) for name in os.listdir("/proc/self/fd")] if order["close"] else ():
        if number > 2 and number not in keep:
            try:
                os.close(number)
            except OSError as error:
                if error.errno != errno.EBADF:  # listdir's own
                    raise
    for number in keep:
        os.set_inheritable(number, not order["close"])


def remove(root: int, path: str) -> None:
    """Take one relative path out of the view, whatever it is, without following a link on the way to it."""
    *above, last = [part for part in path.split("/") if part not in ("", ".")]
    here = os.dup(root)
    try:
        for part in above:
            try:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
            except (FileNotFoundError, NotADirectoryError):
                return
            os.close(here)
            here = below
        empty(last, here)
    finally:
        os.close(here)


def empty(name: str, above: int) -> None:
    """Unlink a file or link, or a directory with all that it holds."""
    try:
        mode = os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        os.unlink(name, dir_fd=above)
        return
    if mode & 0o700 != 0o700:
        os.chmod(name, 0o700, dir_fd=above)
    here = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    try:
        for inner in os.listdir(here):
            empty(inner, here)
    finally:
        os.close(here)
    os.rmdir(name, dir_fd=above)


def command(order: dict[str, Any], channel: int) -> NoReturn:
    """The child: its own session, default signals, bounds, then the program."""
    os.setsid()
    for number in range(1, signal.SIGRTMIN):
        if number in signal.valid_signals() and number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if channel >= 0:
        os.dup2(channel, CHANNEL, inheritable=True)
    for name, bound in order["limits"]:
        ceiling = resource.getrlimit(LIMITS[name])[1]
        if ceiling != resource.RLIM_INFINITY:
            bound = min(bound, ceiling)
        resource.setrlimit(LIMITS[name], (bound, bound))
    os.umask(0o022)
    status = 126
    try:
        os.chdir(order["cwd"])
        os.execvpe(order["argv"][0], order["argv"], order["env"])
    except FileNotFoundError:
        status = 127
        os.write(2, f"{order['argv'][0]}: not found\n".encode("utf-8", "replace"))
    except OSError as error:
        os.write(2, f"{error.filename or order['argv'][0]}: {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(status)


def main() -> None:
    """Order, view, command, report."""
    source, report, channel = (int(text) for text in sys.argv[1:4])
    with open(source, "rb") as stream:
        order = marshal.load(stream)
    harden([number for number in (report, channel) if number >= 0], order)
    if order["remove"]:
        root = os.open(order["root"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for path in order["remove"]:
            remove(root, path)
        os.close(root)
    os.write(report, b"S\n")
    child = os.fork()
    if child == 0:
        command(order, channel)
    if channel >= 0:
        os.close(channel)
    while True:
        number, status = os.wait()
        if number == child or order["anybody"]:
            break
    code = os.waitstatus_to_exitcode(status)
    os.write(report, f"E {code if code >= 0 else 128 - code}\n".encode())
