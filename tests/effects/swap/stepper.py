"""Runs `replace_all` in children that are killed, interrupted or failed at a chosen point. A program: it forks and traces.

    python -m tests.effects.swap.stepper FOLDER < points.json > results.json

Points: ["kill" | "interrupt", n] acts before or after a system call, at the n-th stop of a traced child; ["fail", n] raises
OSError instead of the n-th call of a function of the operating system, exchanges included. Each runs on a tree of its own.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from bench.effects.swap import exchange, recovery, replacing
from bench.errors import BenchError

FILES = ("skills/one/SKILL.md", "skills/one/more/notes.md", "mirror/one/SKILL.md", "mirror/one/more/notes.md")
TRACEME, SYSCALL, SETOPTIONS = 0, 24, 0x4200
SYSGOOD, EXITKILL = 1, 0x100000
_ptrace = ctypes.CDLL(None, use_errno=True).ptrace
_ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_ptrace.restype = ctypes.c_long


def grow(root: Path) -> list[replacing.Replacement]:
    """A tree with the old files, and what is to replace them."""
    wanted = []
    for path in FILES:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"old " + path.encode())
        wanted.append(replacing.Replacement(path, b"old " + path.encode(), b"new " + path.encode()))
    return wanted


def state(root: Path) -> dict[str, Any]:
    """What stands in the tree: `old`, `new` or `mixed`, whether there is a recovery file, and what else lies about."""
    words = {(root / path).read_bytes().split()[0].decode() for path in FILES}
    others = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    others = [path for path in others if path not in FILES]
    return {"tree": words.pop() if len(words) == 1 else "mixed", "recovery": recovery.NAME in others, "others": others}


def _failing(number: int) -> None:
    left = number

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        if (event == "c_call" and getattr(argument, "__module__", "") == "posix") or (
            event == "call" and frame.f_code is exchange.exchange.__code__  # ctypes makes no event of its own
        ):
            left -= 1
            if left == 0:
                raise OSError(5, "injected")

    sys.setprofile(profile)


def _child(root: Path, wanted: list[replacing.Replacement], how: str, number: int) -> int:
    if how == "fail":
        _failing(number)
    else:
        _ptrace(TRACEME, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
    try:
        replacing.replace_all(root, wanted, {})
    except KeyboardInterrupt:
        return 130
    except (BenchError, OSError):
        return 1
    finally:
        sys.setprofile(None)
    return 0


def _traced(pid: int, how: str, number: int) -> int:
    """Follow the child to its end; gives the number of stops."""
    os.waitpid(pid, 0)
    _ptrace(SETOPTIONS, pid, None, SYSGOOD | EXITKILL)
    stops, passed = 0, 0
    while True:
        _ptrace(SYSCALL, pid, None, passed)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            return stops
        passed = 0 if os.WSTOPSIG(status) & 0x80 else os.WSTOPSIG(status)
        stops += passed == 0
        if stops == number and passed == 0:
            os.kill(pid, signal.SIGKILL if how == "kill" else signal.SIGINT)


def play(root: Path, how: str, number: int) -> dict[str, Any]:
    """One point: what was there after it, and what after recovering."""
    root.mkdir()
    wanted = grow(root)
    pid = os.fork()
    if pid == 0:
        os._exit(_child(root, wanted, how, number))
    stops = 0 if how == "fail" else _traced(pid, how, number)
    if how == "fail":
        os.waitpid(pid, 0)
    after = state(root)
    recovery.recover(root)
    return {"point": [how, number], "stops": stops, "after": after, "recovered": state(root)}


def main() -> None:
    """Play every point."""
    assert threading.active_count() == 1, "forking wants a single thread"
    home = Path(sys.argv[1])
    points = json.load(sys.stdin)
    json.dump([play(home / str(n), how, number) for n, (how, number) in enumerate(points)], sys.stdout)


if __name__ == "__main__":
    main()
