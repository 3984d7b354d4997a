"""The one seam through which trusted host programs are started: own session, a small environment, bounded in time."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.effects import clock, env
from bench.errors import Cancelled, MissingPart, StepFailed

GRACE_S = 5.0
BINDER = "setpriv"
"""Of util-linux, where there is one: has the kernel kill the program when we are killed ourselves."""


@dataclass(frozen=True, slots=True)
class Done:
    """A program's end: exit status (negative = signal), its output."""

    exit: int
    stdout: bytes
    stderr: bytes

    def tail(self, limit: int = 400) -> str:
        """The last words of a failed program, on one line."""
        text = (self.stderr or self.stdout).decode("utf-8", "replace").strip()
        return " ".join(text[-limit:].split())


def bound(argv: Sequence[str]) -> list[str]:
    """The command, killed by the kernel when the thread that started it ends, where that can be had."""
    # Python has no safe way to set a death signal in a process of many threads.
    binder = shutil.which(BINDER)
    if binder is None or shutil.which(argv[0]) is None:
        return list(argv)
    return [binder, "--pdeathsig", "KILL", "--", *argv]


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    extra_env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    seconds: float = 600,
    cancel: threading.Event | None = None,
) -> Done:
    """Run a trusted program to its end; its whole process group dies on time-out, cancel or exit.

    Raises MissingPart when there is no such program, StepFailed on time-out and where `cwd` is gone, Cancelled when `cancel`
    is set.
    """
    child = _start(argv, cwd, env.for_tools() | dict(extra_env or {}))
    deadline = clock.monotonic() + seconds
    try:
        feed: bytes | None = stdin
        while True:
            try:
                out, err = child.communicate(feed, timeout=0.1 if cancel else max(0.0, deadline - clock.monotonic()))
                return Done(child.returncode, out, err)
            except subprocess.TimeoutExpired:
                feed = None
                if cancel is not None and cancel.is_set():
                    raise Cancelled(f"{argv[0]} was stopped") from None
                if clock.monotonic() >= deadline:
                    raise StepFailed(f"{argv[0]} took longer than {seconds:g} s") from None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        if child.poll() is None:
            child.wait(GRACE_S)
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()


def _start(argv: Sequence[str], cwd: Path | None, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            bound(argv),
            cwd=cwd,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (FileNotFoundError, PermissionError) as error:
        if cwd is not None and str(error.filename) == str(cwd):
            raise StepFailed(f"{argv[0]} cannot start: its directory is gone or closed to this user") from None
        # A folder of the PATH that may not be searched gives "permission denied" for a program that is nowhere.
        if Path(argv[0]).name != argv[0] and Path(argv[0]).exists():
            raise MissingPart(f"{argv[0]!r} may not be run", remedy="make it executable") from None
        raise MissingPart(f"no program {argv[0]!r}", remedy="install it and put it on the PATH") from None
