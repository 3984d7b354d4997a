"""inspect_ai 2949: a full disk tore the log that was being rewritten, and what had been finished was lost with it.

Here: temporary file, fsync, rename; the old record intact, the cell not done, the error names the disk, exit 3, and once
there is room the next run makes what is missing and nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.make import workspaces
from tests.make.workspaces import Bench

pytestmark = pytest.mark.slow

LIMITED = (
    "import os, resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))\n"
    # Python itself leaves torn bytecode on a full disk; the cache is shared with other tests.
    "os.environ['PYTHONDONTWRITEBYTECODE'] = '1'\n"
    "os.execv(sys.argv[2], sys.argv[2:])\n"
)


def full_after(size: int) -> tuple[str, ...]:
    """A prefix under which no file grows beyond `size` bytes: a full disk that any user can have."""
    return (sys.executable, "-c", LIMITED, str(size))


def whole(bench: Bench) -> None:
    for path, data in bench.records().items():
        assert json.loads(data)["seal"], path
    assert list(bench.path("artifacts").rglob(".new-*")) == []


@pytest.mark.parametrize("size", [600, 1500, 3000, 6000])
def test_no_room_at_some_point(tmp_path: Path, size: int):
    bench = Bench(workspaces.tiny(tmp_path / "ws"))
    done = bench.doit(prefix=full_after(size))
    assert done.code == 3, done.stdout + done.stderr
    assert "cannot write" in done.stderr
    assert "free space" in done.stderr
    assert "Traceback" not in done.stderr
    whole(bench)
    kept = {path: data for path, data in bench.records().items() if json.loads(data)["state"] == "final"}
    again = bench.doit()
    assert again.code == 0, again.stderr
    records = bench.records()
    assert {path: records[path] for path in kept} == kept
    assert bench.doit("verify").code == 0


def test_no_room_for_a_new_verdict_leaves_the_old_one_and_it_is_not_taken_for_the_new(workspace: Bench):
    """The step that was stopped must not count as done for the inputs that it never saw."""
    before = workspace.records()
    workspace.edit("oracles/add/check.sh", "= 5", "-eq 5")
    done = workspace.doit(prefix=full_after(workspace.path("artifacts/journal.jsonl").stat().st_size + 10))
    assert done.code == 3
    whole(workspace)
    cell = "artifacts/cells/tiny/add/gold/0.json"
    assert workspace.records()[cell] == before[cell]
    again = workspace.doit()
    assert again.code == 0
    assert again.did["cell:tiny/add/gold/0"] == "built", "graded with the oracle as it is now"


ROOT = os.geteuid() == 0
OWN = " ".join((*(() if ROOT else ("unshare", "-U", "--map-user=1000", "--map-group=1000")), *workspaces.COMMAND))
"""`doit` in a mount name space: as root, or as the ordinary user who made the name space and is root in it."""


def mounted(bench: Bench, mount: str, command: str) -> subprocess.CompletedProcess[str]:
    """Run shell commands with artifacts/ on a mount of its own."""
    shell = ["unshare", "-m" if ROOT else "-Urm", "sh", "-c", f"{mount} && {command}"]
    return subprocess.run(shell, cwd=bench.root, env=bench.environment(), capture_output=True, text=True, check=False)


def test_a_small_disk_that_is_full(workspace: Bench):
    workspace.edit("oracles/add/check.sh", "= 5", "-eq 5")
    small = "mkdir /tmp/kept-$$ && cp -a artifacts/. /tmp/kept-$$ && mount -t tmpfs -o size=16m none artifacts"
    small += " && cp -a /tmp/kept-$$/. artifacts && rm -r /tmp/kept-$$"
    small += " && (cat /dev/zero >artifacts/filler 2>/dev/null; true)"
    script = f"{OWN}; echo first $?; rm artifacts/filler; {OWN}; echo second $?; {OWN} verify; echo third $?"
    done = mounted(workspace, small, script)
    assert "first 3" in done.stdout, done.stdout + done.stderr
    assert "second 0" in done.stdout, done.stdout + done.stderr
    assert "third 0" in done.stdout, done.stdout + done.stderr
    assert "the disk is full" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_place_that_cannot_be_written_is_exit_3_and_reading_goes_on(workspace: Bench):
    read_only = "mount --bind artifacts artifacts && mount -o remount,ro,bind artifacts"
    script = f"{OWN} -n 1; echo run $?; {OWN} plan; echo plan $?; {OWN} verify; echo verify $?"
    done = mounted(workspace, read_only, script)
    assert "run 3" in done.stdout, done.stdout + done.stderr
    assert "plan 0" in done.stdout
    assert "verify 0" in done.stdout
    assert "cannot write" in done.stderr
    assert len(done.stderr.splitlines()) == 1
