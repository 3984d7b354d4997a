"""Several files are replaced, or none is."""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.core import digest
from bench.effects.swap import recovery, replacing
from bench.effects.swap.replacing import Replacement
from bench.errors import ApplyFailed
from tests.effects.swap import stepper

ROOT = Path(__file__).parents[3]


@pytest.fixture
def wanted(tmp_path: Path) -> list[Replacement]:
    return stepper.grow(tmp_path)


def whole(root: Path, tree: str) -> None:
    assert stepper.state(root) == {"tree": tree, "recovery": False, "others": []}


def test_every_file_is_new_and_nothing_else_is_left(tmp_path: Path, wanted: list[Replacement]) -> None:
    (tmp_path / wanted[0].path).chmod(0o755)
    assert replacing.replace_all(tmp_path, wanted, {"candidate": "demo/candidate"}) == []
    whole(tmp_path, "new")
    assert (tmp_path / wanted[0].path).stat().st_mode & 0o777 == 0o755


def test_every_drifted_or_missing_base_is_named_and_nothing_changes(tmp_path: Path, wanted: list[Replacement]) -> None:
    (tmp_path / wanted[1].path).write_bytes(b"mine")
    (tmp_path / wanted[2].path).unlink()
    with pytest.raises(ApplyFailed) as error:
        replacing.replace_all(tmp_path, wanted, {})
    assert wanted[1].path in str(error.value)
    assert wanted[2].path in str(error.value)
    assert (tmp_path / wanted[0].path).read_bytes() == wanted[0].base
    assert not (tmp_path / recovery.NAME).exists()


@pytest.mark.parametrize("what", ["link", "folder link", "fifo", "hard link"])
def test_what_is_no_file_of_its_own_is_refused(tmp_path: Path, wanted: list[Replacement], what: str) -> None:
    file = tmp_path / wanted[0].path
    aside = tmp_path / "aside"
    if what == "hard link":
        os.link(file, aside)
    elif what == "folder link":
        (tmp_path / "skills").rename(aside)
        (tmp_path / "skills").symlink_to("aside")
    else:
        file.rename(aside)
        os.mkfifo(file) if what == "fifo" else file.symlink_to(aside)
    with pytest.raises(ApplyFailed, match="nothing was changed"):
        replacing.replace_all(tmp_path, wanted, {})
    assert (tmp_path / wanted[2].path).read_bytes() == wanted[2].base


def test_an_edit_after_the_kill_is_kept_and_named(tmp_path: Path, wanted: list[Replacement]) -> None:
    root = os.open(tmp_path, os.O_RDONLY)
    entries = [
        recovery.Entry(w.path, f".assay-{n:012x}-{n}", digest.of_bytes(w.base), digest.of_bytes(w.new))
        for n, w in enumerate(wanted)
    ]
    recovery.write(root, recovery.OPEN, entries, {})
    for entry, item in zip(entries, wanted, strict=True):  # as a killed run leaves it: all exchanged
        (tmp_path / item.path).with_name(entry.staged).write_bytes(item.base)
        (tmp_path / item.path).write_bytes(item.new)
    (tmp_path / wanted[1].path).write_bytes(b"my own edit")
    with pytest.raises(ApplyFailed, match="edited since"):
        recovery.recover(tmp_path)
    assert (tmp_path / wanted[1].path).read_bytes() == b"my own edit"
    assert (tmp_path / wanted[1].path).with_name(entries[1].staged).read_bytes() == wanted[1].base
    assert (tmp_path / wanted[0].path).read_bytes() == wanted[0].base
    said = json.loads((tmp_path / recovery.NAME).read_text())
    assert [file["path"] for file in said["files"]] == [wanted[1].path]
    assert entries[1].staged in said["files"][0]["how"]
    assert (tmp_path / recovery.NAME).stat().st_mode & 0o777 == 0o600
    with pytest.raises(ApplyFailed, match="interrupted"):
        replacing.replace_all(tmp_path, wanted, {})
    os.close(root)


@pytest.mark.parametrize("what", ["link", "moved folder"])
def test_a_backup_that_was_replaced_or_moved_is_named_and_the_others_are_deleted(
    tmp_path: Path, wanted: list[Replacement], what: str
) -> None:
    root = os.open(tmp_path, os.O_RDONLY)
    entries = [
        recovery.Entry(w.path, name, digest.of_bytes(w.base), digest.of_bytes(w.new))
        for w, name in zip(wanted, recovery.staged_names(), strict=False)
    ]
    for entry, item in zip(entries, wanted, strict=True):  # all exchanged, only the backups are left
        (tmp_path / item.path).with_name(entry.staged).write_bytes(item.base)
        (tmp_path / item.path).write_bytes(item.new)
    odd = (tmp_path / wanted[1].path).with_name(entries[1].staged)
    if what == "link":
        odd.unlink()
        odd.symlink_to("notes.md")
    else:
        odd.parent.rename(tmp_path / "moved")
    recovery.write(root, recovery.DONE, entries, {})
    kept = replacing._tidied(root, entries, {})
    assert kept == [wanted[1].path]
    with pytest.raises(ApplyFailed, match=f"edited since: {wanted[1].path}") as error:
        recovery.recover(tmp_path)
    assert recovery.NAME in str(error.value)
    backups = [path.name for path in tmp_path.rglob(".assay-*") if path.name != recovery.NAME]
    assert backups == [entries[1].staged]
    os.close(root)


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 1}', '{"schema": 1, "state": "open", "note": {}, "files": [{}]}'])
def test_a_damaged_recovery_file_is_refused(tmp_path: Path, wanted: list[Replacement], text: str) -> None:
    (tmp_path / recovery.NAME).write_text(text)
    (tmp_path / recovery.NAME).chmod(0o600)
    with pytest.raises(ApplyFailed, match="not a recovery file of ours"):
        recovery.recover(tmp_path)
    whole_tree = stepper.state(tmp_path)
    assert whole_tree["tree"] == "old"


def test_a_recovery_file_cannot_lead_out_of_the_tree(tmp_path: Path) -> None:
    said = {"schema": 1, "state": "open", "note": {}}
    said |= {"files": [{"path": "../x", "staged": ".assay-0123456789ab-0", "base": "b3:0", "new": "b3:1"}]}
    (tmp_path / recovery.NAME).write_text(json.dumps(said))
    (tmp_path / recovery.NAME).chmod(0o600)
    with pytest.raises(ApplyFailed, match="not a recovery file"):
        recovery.recover(tmp_path)


NO_EXCHANGE = """
import ctypes, os, struct, sys
from pathlib import Path
from bench.core import digest
from bench.effects.swap import replacing
from bench.errors import EnvironmentRefused
from tests.effects.swap import stepper
wanted = stepper.grow(Path(sys.argv[1]))
# A real refusal by the kernel: every renameat2 of this process answers EINVAL, as a file system without exchange does.
rows = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[2])), (0x06, 0, 0, 0x00050000 | 22), (0x06, 0, 0, 0x7FFF0000)]
code = b"".join(struct.pack("HBBI", *row) for row in rows)
buffer = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", len(rows), ctypes.addressof(buffer))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.create_string_buffer(program), 0, 0) == 0
try:
    replacing.replace_all(Path(sys.argv[1]), wanted, {})
except EnvironmentRefused as error:
    print(error)
"""


def test_a_file_system_without_exchange_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    assert struct.calcsize("P") == ctypes.sizeof(ctypes.c_void_p) == 8
    number = {"x86_64": 316, "aarch64": 276}[os.uname().machine]
    done = subprocess.run(
        [sys.executable, "-c", NO_EXCHANGE, str(tmp_path), str(number)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "no atomic exchange" in done.stdout
    whole(tmp_path, "old")


def play(folder: Path, points: list[list[object]]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.effects.swap.stepper", str(folder)],
        cwd=ROOT,
        input=json.dumps(points).encode(),
        capture_output=True,
        check=True,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("point", "tree"), [(["kill", 10**9], "new"), (["fail", 10**9], "new"), (["kill", 1], "old")])
def test_the_stepper_runs_to_the_end_and_stops_where_it_is_told(tmp_path: Path, point: list[object], tree: str) -> None:
    (only,) = play(tmp_path, [point])
    assert only["recovered"] == {"tree": tree, "recovery": False, "others": []}
