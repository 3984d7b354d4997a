"""The part that all hostile agents share; it runs inside, with nothing but the standard library.

An attempt is a function without arguments. It returns what it gained, which is then a breach; it failed if it raises or
gains nothing. Each runs in a process of its own, so that what kills it kills no other.
"""

import ctypes
import json
import os
import signal
import sys
import tempfile

INHERITED = [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2 and os.path.exists(f"/proc/self/fd/{name}")]
FACTS = json.loads(sys.stdin.read() or "{}")
SECONDS = 20
COMMAND, INIT = os.getpid(), os.getppid()
"""This process and the one that started it: inside, that is pid 1."""
NEWNS = 0x20000
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def done(result):
    """True, or the error of a C call."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return True


def let_through(call, *arguments):
    """Whether the kernel would do it, asked with arguments that it cannot use: which error comes, the right's or theirs.

    For what would harm the machine. The kernel looks at the right first, so another error than the right's is a breach.
    """
    try:
        syscall(call, *arguments)
    except OSError as error:
        if isinstance(error, PermissionError) or error.errno == 38:
            raise
        return f"allowed, then {error.strerror}"
    return "done"


def scratch():
    """A new directory, for what an attempt has to make first."""
    return tempfile.mkdtemp(dir=FACTS.get("covered", FACTS.get("scratch")))


def syscall(name, *arguments):
    """A system call by name, raising OSError as Python's own do."""
    ctypes.set_errno(0)
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(FACTS["numbers"][name]), *given)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def read(path):
    """All of a file, as text."""
    with open(path, "rb") as stream:
        return stream.read().decode("utf-8", "replace")


def attempt(function):
    """`[gained, said]` of one attempt, made in a child."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        os.setpgid(0, 0)
        signal.alarm(SECONDS)
        if FACTS.get("apart") and libc.unshare(NEWNS) != 0:  # so that what one attempt mounts does not meet the next
            os._exit(1)
        try:
            gained = function()
            answer = [bool(gained), repr(gained)[:2000]]
        except BaseException as error:
            answer = [False, f"{type(error).__name__}: {error}"[:2000]]
        os.write(sink, json.dumps(answer).encode())
        os._exit(0)
    os.close(sink)
    with open(source, "rb") as stream:
        answer = stream.read()
    _number, status = os.waitpid(child, 0)
    if not answer:
        return [False, f"killed: {os.waitstatus_to_exitcode(status)}"]
    return json.loads(answer)


def main(functions):
    """Make the attempts that were asked for, and say what came of each."""
    names = FACTS.get("only") or [
        n for n, f in functions.items() if callable(f) and getattr(f, "__module__", "") == "__main__"
    ]
    print(json.dumps({name: attempt(functions[name]) for name in names}), flush=True)
    sys.stdout.flush()
