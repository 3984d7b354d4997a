"""The exit status is half of the evidence. Incident behind these: through bubblewrap's own pid 1 a process could take the
descriptor on which the status is reported (pidfd_getfd) and report success.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.effects.sandbox import Finished, Limits, Spec, Workspace, execution, runner
from bench.effects.sandbox.bwrap import Guards
from tests.threats.sandbox.probing import BARE, OUTSIDE, Attempt, Probe, shown

DUMPABLE = Guards(undumpable=False, seccomp=False, readonly_proc=False)
REFUSED = "PermissionError"

ATTEMPTS = {
    "tracing_pid_1": Attempt(REFUSED, (DUMPABLE,)),
    "seizing_pid_1": Attempt(REFUSED, (DUMPABLE,)),
    "reading_its_memory": Attempt(REFUSED, (DUMPABLE,)),
    "writing_its_memory": Attempt("Read-only file system", (DUMPABLE,)),
    "taking_its_descriptors": Attempt(REFUSED, (DUMPABLE,)),
    "opening_its_descriptors": Attempt(REFUSED, (DUMPABLE,)),
    "its_report_pipe_as_inherited": Attempt("[]", (Guards(close_descriptors=False),)),
    "comparing_with_it": Attempt(REFUSED, (DUMPABLE,), kernel=True),
    "killing_it": Attempt("False", (OUTSIDE,)),
    "killing_it_with_every_signal": Attempt("False", (OUTSIDE,)),
    "stopping_it_through_a_pidfd": Attempt("False", (OUTSIDE,)),
    "signalling_the_harness": Attempt("ProcessLookupError", (BARE,)),
    "signalling_the_parent_of_pid_1": Attempt("0", (OUTSIDE,)),
    "its_working_directory": Attempt(REFUSED, (DUMPABLE,)),
    "its_program": Attempt(REFUSED, (DUMPABLE,)),
    "making_the_memory_killer_choose_it": Attempt("Read-only file system", (DUMPABLE,)),
}


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return Probe(("processes",), ATTEMPTS, {"pid": os.getpid()}, tmp_path_factory.mktemp("host"))


@pytest.mark.parametrize("name", ATTEMPTS)
def test_refused(probe: Probe, name: str) -> None:
    probe.refused(name)


@pytest.mark.parametrize("name", shown(ATTEMPTS))
def test_succeeds_without_its_guard(probe: Probe, name: str) -> None:
    probe.succeeds(name)


ORPHAN = """
import os, time
if os.fork() == 0:
    if os.fork() == 0:
        time.sleep(0.2)
    os._exit(0)
"""
FORGERIES = {
    "printing the report": ("print('S\\nE 0\\n'); raise SystemExit(7)", 7),
    "writing the report to every descriptor": (
        "import os\nfor n in range(3, 200):\n    try: os.write(n, b'E 0\\n')\n    except OSError: pass\nos._exit(7)",
        7,
    ),
    "a child that leaves well": ("import os\nif os.fork() == 0: os._exit(0)\nos.wait(); os._exit(7)", 7),
    "an orphan that leaves well first": (f"{ORPHAN}time.sleep(1); os._exit(7)", 7),
    "killing oneself": ("import os; os.kill(os.getpid(), 9)", 137),
    "killing everybody": ("import os, time; os.fork() or time.sleep(99); os.kill(-1, 9); os._exit(7)", 7),
    "a status too large": ("raise SystemExit(256 + 7)", 7),
    "a command that is its own first child": ("import os; os.execlp('sh', 'sh', '-c', 'exit 7')", 7),
    "leaving by a thread": (
        "import os, threading; threading.Thread(target=os._exit, args=(7,)).start(); import time; time.sleep(9)",
        7,
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_the_status_is_the_command_s_own(name: str) -> None:
    """Guards: pid 1 reports on a close-on-exec pipe, and waits for the command alone."""
    script, status = FORGERIES[name]
    done = runner.run(Spec(("python3", "-c", script), limits=Limits(seconds=60)))
    assert (done.exit, done.limit) == (status, None)


CARELESS = {
    "writing the report to every descriptor": Guards(close_descriptors=False),
    "an orphan that leaves well first": Guards(own_command=False),
}
"""Where these forgeries succeed. The others would fool a harness that reads its verdict from the output, or asks a shell."""


@pytest.mark.parametrize("name", CARELESS)
def test_the_status_is_forged_without_its_guard(name: str) -> None:
    spec = Spec(("python3", "-c", FORGERIES[name][0]), limits=Limits(seconds=60))
    assert execution.execute(spec, None, None, CARELESS[name]).exit == 0


def test_bounding_pid_1_to_death_yields_no_status() -> None:
    """Guard: no status but the one that pid 1 reports. prlimit asks for the same user alone, so it can be killed so."""
    script = "import os, time, resource as r; r.prlimit(1, r.RLIMIT_CPU, (0, 0)); time.sleep(2); os._exit(7)"
    done = runner.run(Spec(("python3", "-c", script), limits=Limits(seconds=60)))
    assert done.exit in (None, 7)
    assert not done.ok


def test_a_stopped_command_ends_with_its_time() -> None:
    """Guard: the time is the harness's to keep, and SIGKILL reaches a stopped process."""
    done = runner.run(Spec(("python3", "-c", "import os; os.kill(os.getpid(), 19)"), limits=Limits(seconds=2)))
    assert (done.exit, done.limit) == (None, "time")


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "template").mkdir()
    for name in (
        "marshal",
        "os",
        "stat",
        "resource",
        "_ctypes",
        "errno",
        "sitecustomize",
        "usercustomize",
        "encodings",
        "codecs",
    ):
        (tmp_path / "template" / f"{name}.py").write_text("import sys; sys.exit(0)\n")
    workspace = Workspace(tmp_path / "template", tmp_path / "upper", runner.choose_backing(tmp_path))
    runner.prepare(workspace)
    yield workspace
    runner.discard(workspace)


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"PYTHONPATH": "/workspace", "PYTHONHOME": "/workspace", "PYTHONSTARTUP": "/workspace/os.py"},
        {"LD_PRELOAD": "/workspace/evil.so", "LD_LIBRARY_PATH": "/workspace", "LD_AUDIT": "/workspace/evil.so"},
        {"PATH": "/workspace", "PYTHONINSPECT": "1", "PYTHONBREAKPOINT": "os.system"},
    ],
    ids=["modules in the working directory", "Python's variables", "the loader's variables", "the search path"],
)
def test_pid_1_runs_nothing_of_the_workspace(planted: Workspace, env: dict[str, str]) -> None:
    """Guards: pid 1 runs isolated, its code comes by a descriptor, and the command's environment never reaches it."""
    done: Finished = runner.run(Spec(("/bin/sh", "-c", "exit 7"), planted, env=env))
    assert done.exit == 7


def test_an_interpreter_that_is_not_isolated_runs_it(planted: Workspace) -> None:
    """Without: the same modules are imported from the working directory, and answer for the program."""
    program = [sys.executable, "-S", "-c", "import resource, sys; sys.exit(7)"]
    assert subprocess.run(program, cwd=planted.template, check=False).returncode == 0
