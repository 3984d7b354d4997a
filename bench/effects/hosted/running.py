"""One command on the host: an environment from nothing, a bounded output, a time limit, and no process left at its end.

Processes are found by their group and by a mark in their environment. A command that takes both off outlives it: this
confines nothing, and nothing here claims to.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.effects import clock, proc
from bench.effects.hosted.mapped import Mapped
from bench.effects.sandbox import Finished, interpreter
from bench.effects.sandbox.pump import Pump
from bench.errors import MissingPart

OUTPUT_BYTES = 8 << 20
"""Per stream, as in the sandbox."""
MARK = "ASSAY_HOSTED"
"""Variable by whose value the processes of one command are found again."""
SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
GONE_S = 10.0
POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run: their directory, private home and tmp, and how the sandbox calls these."""

    cwd: Path
    home: Path
    tmp: Path
    mapped: Mapped
    env: Mapping[str, str] = field(default_factory=dict)
    """Beside the fixed one; sandbox paths in it are mapped."""


def prepare(place: Place) -> None:
    """Make home and tmp, and a directory of programs that holds the interpreter without anyone's packages."""
    for folder in (place.home, place.tmp, _programs(place)):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in ("python", "python3"):
        with contextlib.suppress(FileExistsError):
            (_programs(place) / name).symlink_to(interpreter.host_program().resolve())


def _programs(place: Place) -> Path:
    return place.home / ".programs"


def environment(place: Place) -> dict[str, str]:
    """Everything that a command finds in its environment; nothing of ours is passed on."""
    fixed = {
        "PATH": f"{_programs(place)}:{SEARCH_PATH}",
        "HOME": str(place.home),
        "TMPDIR": str(place.tmp),
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return fixed | {name: place.mapped.to_host(value) for name, value in place.env.items()}


def run(
    place: Place, argv: tuple[str, ...], *, stdin: bytes = b"", seconds: float, cancel: threading.Event | None = None
) -> Finished:
    """Run one command, its paths mapped there and back. Raises MissingPart when there is no such program."""
    mark = secrets.token_hex(16)
    began = clock.monotonic()
    child, pump = _start(place, argv, stdin, mark)
    try:
        limit = pump.run(began + seconds, cancel, _looking(child, mark), lambda hard: kill(child.pid, mark))
        limit = limit or _waited(child, began + seconds, cancel)
    finally:
        kill(child.pid, mark)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GONE_S)
    status = child.returncode
    ended = None if limit or status is None else status if status >= 0 else 128 - status
    out, err = (place.mapped.bytes_to_sandbox(bytes(pump.got[name])) for name in ("stdout", "stderr"))
    return Finished(ended, limit, out, err, b"", clock.monotonic() - began)


def _start(place: Place, argv: tuple[str, ...], stdin: bytes, mark: str) -> tuple[subprocess.Popen[bytes], Pump]:
    sources, sinks = {}, {}
    for name in ("stdout", "stderr"):
        sources[name], sinks[name] = os.pipe()
    given, feed = os.open(os.devnull, os.O_RDONLY), None
    if stdin:
        os.close(given)
        given, writer = os.pipe()
        feed = (writer, stdin)
    try:
        child = subprocess.Popen(
            proc.bound([place.mapped.to_host(word) for word in argv]),
            cwd=place.cwd,
            env=environment(place) | {MARK: mark},
            stdin=given,
            stdout=sinks["stdout"],
            stderr=sinks["stderr"],
            start_new_session=True,
        )
    except (FileNotFoundError, PermissionError):
        for number in [*sources.values(), *([feed[0]] if feed else [])]:
            os.close(number)
        raise MissingPart(f"no program {argv[0]!r}", remedy="install it") from None
    finally:
        for number in (given, *sinks.values()):
            os.close(number)
    return child, Pump(sources, {"stdout": OUTPUT_BYTES, "stderr": OUTPUT_BYTES}, feed)


def _looking(child: subprocess.Popen[bytes], mark: str) -> Callable[[], None]:
    def look() -> None:
        if child.poll() is not None:  # what it left running still holds the pipes
            kill(child.pid, mark)

    return look


def _waited(child: subprocess.Popen[bytes], deadline: float, cancel: threading.Event | None) -> str | None:
    """A command may close its output and go on."""
    while child.poll() is None:
        if cancel is not None and cancel.is_set():
            return "cancelled"
        if clock.monotonic() >= deadline:
            return "time"
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(POLL_S)
    return None


def kill(leader: int, mark: str) -> None:
    """Kill a command's process group, and every process that carries its mark, until there is none."""
    deadline = clock.monotonic() + GONE_S
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    while (left := _marked(mark)) and clock.monotonic() < deadline:
        for number in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)


def _marked(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
    return found
