"""Keeps one server alive exactly as long as the process that holds our standard input, however that process ends.

A script of the standard library alone, started isolated, that makes the server's directory and says one line when that is
done, one when the server is started and one when it has ended. At the end of its input, which comes with the holder's death
by SIGKILL too, it kills the server's whole process group and deletes the directory. It never restarts anything.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
POLL_S = 0.05
PATIENCE_S = 1.5


def _die_with_us() -> None:
    # The last resort, should this process be killed itself. There is one thread here, so that a hook before exec is safe.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _say(**told: object) -> None:
    try:
        os.write(1, json.dumps(told).encode() + b"\n")
    except OSError:
        return  # nobody is left to be told


def _read_line() -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        more = os.read(0, 65536)
        if not more:
            return b""
        data += more
    return data


def _held() -> bool:
    """Whether someone still holds our input; nothing is ever written to it after the first line."""
    ready, _, _ = select.select([0], [], [], POLL_S)
    return not ready or bool(os.read(0, 4096))


def _clear(directory: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while os.path.lexists(directory) and time.monotonic() < deadline:
        shutil.rmtree(directory, ignore_errors=True)
        time.sleep(POLL_S if os.path.lexists(directory) else 0)


def _serve(asked: dict[str, Any]) -> None:
    log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    hook = _die_with_us if sys.platform == "linux" else None
    server = subprocess.Popen(
        asked["argv"],
        env=asked["env"],
        cwd=asked["cwd"],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        preexec_fn=hook,
    )
    os.close(log)
    _say(pid=server.pid)
    told = False
    while _held():
        if server.poll() is not None and not told:
            told = True
            _say(exit=server.returncode)
    try:
        os.killpg(server.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        told = True
    server.wait()


def main() -> None:
    """`supervisor.py DIRECTORY`: makes the directory (0700), says so, and reads one line: {argv, env, cwd, log}."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)  # a terminal's Ctrl-C is the holder's to answer
    directory = sys.argv[1]
    Path(directory).mkdir(mode=0o700)
    try:
        _say(directory=directory)
        first = _read_line()
        if first:
            _serve(json.loads(first))
    finally:
        _clear(directory)


if __name__ == "__main__":
    main()
