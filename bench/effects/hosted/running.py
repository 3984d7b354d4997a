"""One command on the host: an environment from nothing, a bounded output, a time limit, and no process left at its end.

Processes are found by their group and by a mark in their environment. A command that takes both off outlives it: this
confines nothing, and nothing here claims to.
"""

from __future__ import annotations

import contextlib
import errno
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
from bench.effects.sandbox import Finished, Limits, interpreter, view
from bench.effects.sandbox.pump import Pump
from bench.errors import MissingPart

OUTPUT_BYTES = Limits().output_bytes
"""Per stream."""
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
    """Everything that a command finds in its environment: what the sandbox has too, and nothing of ours."""
    fixed = {name: place.mapped.to_host(value) for name, value in view.ENVIRONMENT.items()} | {
        "PATH": f"{_programs(place)}:{SEARCH_PATH}",
        "HOME": str(place.home),
        "TMPDIR": str(place.tmp),
        "GIT_OPTIONAL_LOCKS": "0",
    }
    return fixed | {name: place.mapped.to_host(value) for name, value in place.env.items()}


def run(
    place: Place, argv: tuple[str, ...], *, stdin: bytes = b"", seconds: float, cancel: threading.Event | None = None
) -> Finished:
    """Run one command, its paths mapped there and back. Raises MissingPart when there is no such program."""
    mark = secrets.token_hex(16)
    began = clock.monotonic()
    try:
        child, pump = _start(place, argv, stdin, mark)
    except (OSError, ValueError) as error:
        return _not_started(place, argv, error)
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
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as given:
        sources, sinks, feed = {}, {}, None
        for name in ("stdout", "stderr"):
            sources[name], sinks[name] = os.pipe()
            ours.callback(os.close, sources[name])
            given.callback(os.close, sinks[name])
        if stdin:
            reader, writer = os.pipe()
            ours.callback(os.close, writer)
            feed = (writer, stdin)
        else:
            reader = os.open(os.devnull, os.O_RDONLY)
        given.callback(os.close, reader)
        pump = Pump(sources, {"stdout": OUTPUT_BYTES, "stderr": OUTPUT_BYTES}, feed)
        ours.pop_all()
        ours.callback(pump.close)
        child = subprocess.Popen(
            proc.bound([place.mapped.to_host(word) for word in argv]),
            cwd=place.cwd,
            env=environment(place) | {MARK: mark},
            stdin=reader,
            stdout=sinks["stdout"],
            stderr=sinks["stderr"],
            start_new_session=True,
        )
        ours.pop_all()
    return child, pump


def _not_started(place: Place, argv: tuple[str, ...], error: OSError | ValueError) -> Finished:
    """What an agent's own doing keeps from starting fails as it does in the sandbox; anything else raises."""
    if isinstance(error, OSError) and str(error.filename) != str(place.cwd) and error.errno != errno.E2BIG:
        if isinstance(error, (FileNotFoundError, PermissionError)):
            raise MissingPart(f"no program {argv[0]!r}", remedy="install it") from None
        raise error
    # It has removed the directory, or written what no command line can hold.
    said = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
    return Finished(126, None, b"", place.mapped.to_sandbox(said).encode("utf-8", "replace") + b"\n", b"", 0.0)


def _dead(child: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended. It is not reaped: until then its number, and that of its group, are nobody else's."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _looking(child: subprocess.Popen[bytes], mark: str) -> Callable[[], None]:
    def look() -> None:
        if _dead(child):  # what it left running still holds the pipes
            kill(child.pid, mark)

    return look


def _waited(child: subprocess.Popen[bytes], deadline: float, cancel: threading.Event | None) -> str | None:
    """A command may close its output and go on."""
    while not _dead(child):
        if cancel is not None and cancel.is_set():
            return "cancelled"
        if clock.monotonic() >= deadline:
            return "time"
        clock.sleep(POLL_S)
    return None


def kill(leader: int, mark: str) -> None:
    """Kill the process group of a command that is not reaped yet, and every process that carries its mark, until there is
    none."""
    deadline = clock.monotonic() + GONE_S
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    while (left := _marked(mark)) and clock.monotonic() < deadline:
        for number in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        clock.sleep(POLL_S)


def _marked(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
    return found
