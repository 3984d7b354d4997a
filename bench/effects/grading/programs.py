"""Starts one of our own programs in a sandbox: isolated interpreter, no network, nothing of the workspace on its path."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.effects.sandbox import PYTHON, Bind, Finished, Limits, Spec, Workspace, runner
from bench.errors import Cancelled, StepFailed

SECONDS = 300.0
"""Bound of one of our own programs; it is never the agent's code that spends them."""


@dataclass(frozen=True, slots=True)
class Program:
    """One of `inside/` by name, with its arguments and what it may see."""

    name: str
    arguments: Sequence[str] = ()
    workspace: Workspace | None = None
    stdin: bytes = b""
    readonly: tuple[Bind, ...] = ()
    answer_bytes: int = 8 << 20


def text(name: str) -> str:
    """Source of a program of `inside/`."""
    return Path(__file__).with_name("inside").joinpath(f"{name}.py").read_text("utf-8")


def run(program: Program, cancel: threading.Event) -> bytes:
    """What the program wrote to its channel. Raises StepFailed with its last words, Cancelled."""
    spec = Spec(
        # -S: not even the interpreter's site directories are read.
        argv=(PYTHON, "-I", "-S", "-c", text(program.name), *program.arguments),
        workspace=program.workspace,
        cwd="/tmp" if program.workspace is None else "/",
        stdin=program.stdin,
        readonly=program.readonly,
        channel=True,
        limits=Limits(seconds=SECONDS, output_bytes=program.answer_bytes),
    )
    done = runner.run(spec, cancel=cancel)
    if done.limit == "cancelled":
        raise Cancelled("the grading was stopped")
    if not done.ok:
        words = " ".join(done.stderr.decode("utf-8", "replace").split())[-300:]
        raise StepFailed(f"{program.name} did not end well (exit {done.exit}, limit {done.limit}): {words}")
    return done.channel


def checked(done: Finished) -> Finished:
    """The same, unless the run was cancelled: that is ours to raise, not a verdict."""
    if done.limit == "cancelled":
        raise Cancelled("the grading was stopped")
    return done
