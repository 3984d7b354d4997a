"""pydoit 463 and 182: doit saved its database at a normal end alone, so a killed run had all of its work to do again.

Ten cells, killed when some are done: what was finished is kept byte for byte and not run again, nothing half-written stands
for evidence, and neither processes nor mounts nor scratch are left.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from bench.effects import clock
from tests.make import workspaces
from tests.make.workspaces import Bench


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of ten cells in which everything before the sessions is made."""
    root = workspaces.many(tmp_path_factory.mktemp("begun") / "ws")
    done = Bench(root).doit("template", "runtime", "oracle", "gold", "expected")
    assert done.code == 0, done.stderr
    return root


def finished(bench: Bench, kind: str) -> dict[str, bytes]:
    """The records of a kind that stand and are final."""
    found = {}
    for path, data in bench.records().items():
        if f"/{kind}/" in path and json.loads(data)["state"] == "final":
            found[path] = data
    return found


def wait_for(bench: Bench, kind: str, count: int, child: subprocess.Popen[bytes]) -> None:
    deadline = clock.monotonic() + 120
    while len(finished(bench, kind)) < count:
        assert child.poll() is None, "it ended before it was to be killed"
        assert clock.monotonic() < deadline
        clock.sleep(0.02)


def left_running(root: Path) -> list[str]:
    """Command lines of processes that name the workspace."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                text = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                if str(root) in text or str(root) in os.readlink(folder / "cwd"):
                    found.append(text)
            except OSError:
                continue
    return found


def nothing_left(bench: Bench, *, scratch: bool) -> None:
    deadline = clock.monotonic() + 10
    while left_running(bench.root) and clock.monotonic() < deadline:
        clock.sleep(0.05)
    assert left_running(bench.root) == []
    assert str(bench.root) not in Path("/proc/mounts").read_text()
    if scratch:
        tmp = bench.path("artifacts/tmp")
        assert not tmp.exists() or list(tmp.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "kind", "count"),
    [
        (signal.SIGKILL, "sessions", 6),
        (signal.SIGKILL, "cells", 3),
        (signal.SIGTERM, "sessions", 4),
        (signal.SIGHUP, "cells", 2),
        (signal.SIGINT, "sessions", 2),
    ],
)
def test_what_was_finished_is_kept(begun: Path, tmp_path: Path, number: signal.Signals, kind: str, count: int):
    bench = Bench(workspaces.copied(begun, tmp_path / "ws"))
    child = bench.start("-n", "2")
    wait_for(bench, kind, count, child)
    child.send_signal(number)
    code = child.wait(30)
    assert code == (-number if number == signal.SIGKILL else 130)
    nothing_left(bench, scratch=number != signal.SIGKILL)
    kept = finished(bench, "sessions") | finished(bench, "cells")
    for path, data in bench.records().items():
        assert json.loads(data)["seal"], path
    done = bench.doit("-n", "2")
    assert done.code == 0, done.stderr
    records = bench.records()
    assert {path: records[path] for path in kept} == kept
    made = {f"artifacts/{step.replace(':', 's/', 1)}.json" for step, did in done.did.items() if did in ("measured", "built")}
    assert not made & set(kept), "nothing that was finished is made again"
    assert len(finished(bench, "cells")) == 10
    nothing_left(bench, scratch=True)
    assert bench.doit("verify").code == 0


@pytest.mark.slow
def test_a_signal_ends_a_long_session_at_once(tmp_path: Path):
    """Children are gone within two seconds of the signal; a session that was cut off is no evidence."""
    root = workspaces.tiny(tmp_path / "ws")
    bench = Bench(root)
    bench.edit("corpus/tiny.yaml", '"verify": "test -f adder.sh"', '"verify": "test -f adder.sh", "setup": "sleep 300"')
    bench.edit("corpus/tiny.yaml", '"setup_s": 30', '"setup_s": 600')
    child = bench.start("session:tiny/add/nop/0")
    deadline = clock.monotonic() + 60
    while not any("sleep 300" in text for text in every_command()):
        assert child.poll() is None
        assert clock.monotonic() < deadline
        clock.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)
    assert child.wait(20) == 130
    nothing_left(bench, scratch=True)
    assert not any("sleep 300" in text for text in every_command())
    assert finished(bench, "sessions") == {}
    assert "cancelled; what was finished is kept" in (tmp_path / "logs-of-test" / "stderr").read_text()


def every_command() -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
            except OSError:
                continue
    return found


def test_nohup_outlives_the_terminal(begun: Path, tmp_path: Path):
    bench = Bench(workspaces.copied(begun, tmp_path / "ws"))
    ignoring = subprocess.Popen(
        ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *workspaces.COMMAND, "suite:tiny"],
        cwd=bench.root,
        env=bench.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(bench, "sessions", 1, ignoring)
    ignoring.send_signal(signal.SIGHUP)
    assert ignoring.wait(120) == 0


@pytest.mark.parametrize("name", [".doit.db", "journal.jsonl"])
def test_a_torn_last_line_costs_nothing_but_that_line(workspace: Bench, name: str):
    path = workspace.path(f"artifacts/{name}")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 20])
    before = workspace.records()
    done = workspace.doit()
    assert (done.code, done.stderr) == (0, "")
    assert not {"measured", "built"} & set(done.did.values())
    assert workspace.records() == before
    workspace.path("artifacts/.stamp").unlink(missing_ok=True)  # or nothing would be looked at
    again = workspace.doit()
    assert "14 up to date" in again.stdout, "what was torn is written again, after it"
    assert workspace.doit("verify").code == 0
