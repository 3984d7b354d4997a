"""One run from its mounts to the death of its last process. `runner.run` is the door; tests of the guards come in here.

Rule: when `execute` returns or raises, no process of the run is alive and nothing of it but the session's own layers is
left on the disk. It judges nothing: how the command ended is a value.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import marshal
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bench.effects import clock, env
from bench.effects.removal import remove_tree
from bench.effects.sandbox import BACKINGS, Finished, Spec, bwrap, interpreter, limits, plan, refusals, seccomp
from bench.effects.sandbox.bwrap import Guards
from bench.effects.sandbox.layers import Backing, Layers
from bench.effects.sandbox.pump import Pump, Watch

PYTHON = f"{interpreter.PREFIX}/bin/python3"
STATUS_BYTES = 64
REPORT_BYTES = 4096
GRACE_S = 10.0


def backing(name: str) -> Backing:
    """The backing of that short name."""
    module, cls = BACKINGS[name].split(":")
    made: Backing = getattr(importlib.import_module(module), cls)()
    return made


def execute(spec: Spec, cancel: threading.Event | None, watch: Watch | None, guards: Guards = bwrap.ALL) -> Finished:
    """Run one command. `guards` leaves some out, for the threat suite alone. Raises SandboxRefused, MissingPart."""
    layers = backing(spec.workspace.backing).layers(spec.workspace) if spec.workspace else None
    made = plan.Draft(guards)
    try:
        plan.fill(made, spec, layers)
        with limits.group(spec.limits) as group:
            return _go(_Run(spec, layers, made, group, guards), cancel, watch)
    finally:
        for left in [*made.works, *([layers.thrown] if layers and layers.thrown else [])]:
            remove_tree(left)


@dataclass(slots=True)
class _Run:
    spec: Spec
    layers: Layers | None
    made: plan.Draft
    group: limits.Group | None
    guards: Guards
    kept: list[int] = field(default_factory=list)
    """Descriptors that the launcher inherits; closed here once it runs."""

    def give(self, data: bytes) -> int:
        number = os.memfd_create("order")
        self.kept.append(number)
        os.write(number, data) if len(data) < 1 << 20 else _write_all(number, data)
        os.lseek(number, 0, os.SEEK_SET)
        return number

    def start(self) -> tuple[subprocess.Popen[bytes], Pump]:
        """The launcher, and all that comes out of it."""
        with contextlib.ExitStack() as ours:
            sources: dict[str, int] = {}
            sinks: dict[str, int] = {}
            for name in ("stdout", "stderr", "status", "report", *(["channel"] if self.spec.channel else [])):
                sources[name], sinks[name] = os.pipe()
                self.kept.append(sinks[name])
                ours.callback(os.close, sources[name])
            feed = None
            if self.spec.stdin:
                stdin, writer = os.pipe()
                ours.callback(os.close, writer)
                feed = (writer, self.spec.stdin)
            else:
                stdin = os.open(os.devnull, os.O_RDONLY)
            self.kept.append(stdin)
            bounds = {name: self.spec.limits.output_bytes for name in ("stdout", "stderr", "channel")}
            pump = Pump(sources, bounds | {"status": STATUS_BYTES, "report": REPORT_BYTES}, feed, watch=None)
            ours.pop_all()
            ours.callback(pump.close)
            child = self._launch(stdin, sinks)
            ours.pop_all()
        return child, pump

    def _launch(self, stdin: int, sinks: dict[str, int]) -> subprocess.Popen[bytes]:
        """The launcher, in its groups."""
        waiting, go = os.pipe()
        self.kept += [waiting, go]
        argv = self._bubblewrap(sinks["status"], sinks.get("channel", -1))
        order = plan.for_launcher(self.made, self.spec, self.layers, argv, self.group is None)
        command = [str(interpreter.host_program()), "-I", "-S", "-c", plan.BOOT, str(self.give(plan.code("launcher")))]
        command += [str(self.give(marshal.dumps(order))), str(sinks["report"]), str(waiting)]
        child = subprocess.Popen(
            command,
            cwd="/",
            env=_launcher_environment(),
            stdin=stdin,
            stdout=sinks["stdout"],
            stderr=sinks["stderr"],
            pass_fds=[n for n in self.kept if n not in (stdin, go, sinks["stdout"], sinks["stderr"])],
            start_new_session=True,
        )
        try:
            if self.group:  # while its interpreter starts; entering a group waits for the kernel
                self.group.admit(child.pid)
            with contextlib.suppress(BrokenPipeError):
                os.write(go, b"g")
        except OSError:
            child.kill()
            child.wait()
            raise
        return child

    def _bubblewrap(self, status: int, channel: int) -> list[str]:
        program, _version = bwrap.program()
        filtered = self.give(_filter())
        options = bwrap.arguments(plan.stage_for(program), filtered, interpreter.environment(), self.guards)
        order = self.give(marshal.dumps(plan.order(self.spec, self.guards, self.group is not None)))
        given = self.give(b"".join(os.fsencode(option) + b"\0" for option in options))
        code = self.give(plan.code("init"))
        inside = [PYTHON, "-I", "-S", "-c", plan.BOOT, str(code), str(order), str(status), str(channel)]
        return [str(program), "--args", str(given), "--", *inside]


def _go(run: _Run, cancel: threading.Event | None, watch: Watch | None) -> Finished:
    began = clock.monotonic()
    try:
        child, pump = run.start()
    finally:
        for number in run.kept:
            os.close(number)
    pump.watch = watch
    look: Callable[[], str | None] = run.group.hit if run.group else lambda: None
    with _ended(child):
        limit = pump.run(began + run.spec.limits.seconds, cancel, look, functools.partial(_end, child))
    seconds = clock.monotonic() - began
    return _finished(run, pump, limit, seconds)


def _end(child: subprocess.Popen[bytes], hard: bool) -> None:
    # The launcher kills the tree and waits for it; killed itself, the kernel kills the tree (parent-death signals).
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(signal.SIGKILL if hard else signal.SIGTERM)


@contextlib.contextmanager
def _ended(child: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    except BaseException:  # KeyboardInterrupt and what `watch` raised among them; it goes on up
        _end(child, False)
        raise
    finally:
        try:
            child.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _finished(run: _Run, pump: Pump, limit: str | None, seconds: float) -> Finished:
    status, report = bytes(pump.got["status"]), bytes(pump.got["report"]).decode("utf-8", "replace")
    kind, _space, rest = report.partition(" ")
    if limit is None and (kind == "fault" or not status.startswith(b"S")):
        raise refusals.explain(rest if kind == "fault" else bytes(pump.got["stderr"]).decode("utf-8", "replace"))
    words = rest.split(" ") if kind == "end" else []
    if limit is None and len(words) == 3 and words[2] != "-":
        limit = words[2]
    if limit is None and run.group:
        limit = run.group.hit()
    exit_status = None
    if limit is None and status.startswith(b"S\nE "):
        exit_status = int(status.split()[2])
        limit = "disk" if exit_status == 128 + signal.SIGXFSZ else None
    peak = run.group.peak() if run.group else None
    return Finished(
        exit=exit_status,
        limit=limit,
        stdout=bytes(pump.got["stdout"]),
        stderr=bytes(pump.got["stderr"]),
        channel=bytes(pump.got.get("channel", b"")),
        seconds=seconds,
        cpu_seconds=float(words[0]) if len(words) == 3 else None,
        memory_peak=peak if peak is not None else (int(words[1]) << 10 if len(words) == 3 else None),
    )


def _launcher_environment() -> dict[str, str]:
    # A base interpreter that finds its own library by the environment alone would not start without it.
    found = env.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": found} if found else {}


@functools.cache
def _filter() -> bytes:
    return seccomp.program()


def _write_all(number: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]
