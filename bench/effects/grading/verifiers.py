"""The two verifiers, run on a frozen view: the visible command, and the hidden oracle in its two forms.

Both run without network. The oracle lies read-only at a random sibling of the workspace and is mounted for its own run
alone. What a hidden run prints is dropped here: only its ending and its report leave this module. Nothing is judged.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.effects import files
from bench.effects.grading import programs
from bench.effects.sandbox import PYTHON, WORKSPACE, Bind, Finished, Limits, Spec, Workspace, runner
from bench.errors import CorpusError, StepFailed

ROOT_VARIABLE = "BENCH_ORACLE_ROOT"
REPORT_VARIABLE = "BENCH_ORACLE_REPORT"
"""Where a command oracle with `report: pytest` must leave JUnit XML (`pytest --junitxml="$BENCH_ORACLE_REPORT"`)."""
SETTINGS = ("pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg")
NO_RUNNER = 97
"""Exit status with which the launcher says that it found no pytest."""
_STEADY = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
# The command's own status is kept; a report is sent on only if its path leads to a regular file, which nothing waits for.
_RELAY = (
    'sh -c "$1"; s=$?; r="$BENCH_ORACLE_REPORT"; '
    'if [ -f "$r" ]; then head -c 4194304 "$r" > "/proc/self/fd/$ASSAY_CHANNEL"; fi; exit $s'
)


@dataclass(frozen=True, slots=True)
class View:
    """What is graded: a frozen workspace (planted files taken out), the task's dependencies and mounted trees."""

    workspace: Workspace
    dependencies: Path | None = None
    mounts: tuple[Bind, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hidden:
    """An oracle with its bytes by target, as its record says (`bench.steps.oracle`)."""

    files: Mapping[str, bytes] = field(repr=False)
    command: str | None = None
    pytest: bool = False
    report: str = "exit"
    paths: tuple[str, ...] = ()
    pythonpath: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Our variable name → the name that the command also gets."""


@dataclass(frozen=True, slots=True)
class Run:
    """How a hidden run ended: the report as it came, the nonce that makes it genuine, and none of its output."""

    exit: int | None
    limit: str | None
    channel: bytes = field(repr=False)
    nonce: str = field(repr=False)
    fault: str | None = None
    """Why there is no runner to run the tests with, in its own words; judged only under gold."""


def visible(view: View, command: str, *, seconds: float, cancel: threading.Event) -> Finished:
    """The task's own verify command, as the agent knew it. Raises Cancelled."""
    spec = _spec(view, ("sh", "-c", command), seconds, env={**_STEADY, **view.env})
    return programs.checked(runner.run(spec, cancel=cancel))


def hidden(view: View, oracle: Hidden, *, seconds: float, scratch: Path, cancel: threading.Event) -> Run:
    """One hidden run. `scratch` is a private directory; what is laid there is deleted afterwards.

    Raises Cancelled, and StepFailed when the oracle's files are not the same after the run as before it.
    """
    root = f"/oracle-{secrets.token_hex(8)}"
    stage = scratch / root[1:]
    try:
        _lay(oracle.files, stage)
        bind = Bind(stage, root)
        run = (_by_pytest if oracle.pytest else _by_command)(view, oracle, bind, seconds, cancel)
        _same(oracle.files, stage)
        return run
    finally:
        files.remove_tree(stage)


def _lay(given: Mapping[str, bytes], stage: Path) -> None:
    stage.mkdir(mode=0o755)
    for target, data in given.items():
        path = stage / target
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        path.write_bytes(data)
        path.chmod(0o444)
    for folder in [stage, *(p for p in stage.rglob("*") if p.is_dir())]:
        folder.chmod(0o755)


def _same(given: Mapping[str, bytes], stage: Path) -> None:
    """Re-read every byte: a run over other tests than the sealed ones proves nothing about the work."""
    for target, data in given.items():
        try:
            now = files.read_regular(stage / target, limit=len(data))
        except CorpusError:
            now = None
        if now != data:
            raise StepFailed(f"the staged oracle file {target} is not what was laid there", remedy="run doit again")


def _by_pytest(view: View, oracle: Hidden, root: Bind, seconds: float, cancel: threading.Event) -> Run:
    nonce = secrets.token_hex(32)
    settings = next((name for name in SETTINGS if name in oracle.files), None)
    asked = {
        "nonce": nonce,
        "guard": programs.text("guard"),
        "keeper": programs.text("keeper"),
        "root": root.target,
        "ini": f"{root.target}/{settings}" if settings else None,
        "paths": list(oracle.paths),
        "pythonpath": list(oracle.pythonpath),
        "args": list(oracle.args),
        "workspace": WORKSPACE,
    }
    argv = (PYTHON, "-I", "-c", programs.text("launcher"))
    spec = _spec(view, argv, seconds, env=view.env)
    spec = replace(spec, stdin=json.dumps(asked).encode(), readonly=(*view.mounts, root), channel=True)
    done = programs.checked(runner.run(spec, cancel=cancel))
    fault = None
    if done.exit == NO_RUNNER:
        fault = " ".join(done.stderr.decode("utf-8", "replace").split())[-300:]
    return Run(done.exit, done.limit, done.channel, nonce, fault)


def _by_command(view: View, oracle: Hidden, root: Bind, seconds: float, cancel: threading.Event) -> Run:
    assert oracle.command is not None, "an oracle has a command or the pytest form"
    ours = {ROOT_VARIABLE: root.target, REPORT_VARIABLE: f"/tmp/report-{secrets.token_hex(8)}.xml"}
    named = {theirs: ours[name] for name, theirs in oracle.aliases.items() if name in ours}
    env = {**_STEADY, **view.env, **ours, **named}
    reports = oracle.report == "pytest"
    argv = ("sh", "-c", _RELAY, "sh", oracle.command) if reports else ("sh", "-c", oracle.command)
    spec = replace(_spec(view, argv, seconds, env=env), readonly=(*view.mounts, root), channel=reports)
    done = programs.checked(runner.run(spec, cancel=cancel))
    return Run(done.exit, done.limit, done.channel, "")


def _spec(view: View, argv: tuple[str, ...], seconds: float, *, env: Mapping[str, str]) -> Spec:
    return Spec(
        argv=argv,
        workspace=replace(view.workspace, frozen=True),
        env=env,
        readonly=view.mounts,
        dependencies=view.dependencies,
        limits=Limits(seconds=seconds),
    )
