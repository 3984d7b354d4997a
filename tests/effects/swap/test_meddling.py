"""Someone else's hand comes in while files are replaced, or the disk fails: what was edited stays, the rest is old again.

Each scene is played at a moment between two system calls, the last of them just before the exchange itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.effects.swap import recovery
from bench.errors import ApplyFailed
from tests.effects.swap.stepper import FILES
from tests.effects.swap.test_swap import ROOT

OLD = dict.fromkeys(FILES, "old")
SECOND = FILES[1]


def play(folder: Path, *scene: object) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.effects.swap.meddler", str(folder)],
        cwd=ROOT,
        input=json.dumps([scene]).encode(),
        capture_output=True,
        check=True,
    )
    [found] = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("what", "moment", "said"),
    [
        ("edit", "before", "was edited meanwhile"),
        ("replace", "before", "was edited meanwhile"),
        ("edit", "at", "was edited at the moment of its exchange"),
        ("replace", "at", "was edited at the moment of its exchange"),
    ],
)
def test_an_edit_is_kept_and_every_other_file_is_old(tmp_path: Path, what: str, moment: str, said: str) -> None:
    for number, file in enumerate(FILES, 1):
        (tmp_path / str(number)).mkdir()
        found = play(tmp_path / str(number), what, moment, number)
        assert found["said"].startswith(f"{file}: {said}; rolled back")
        assert found["files"] == OLD | {file: "mine"}
        assert (found["others"], found["recovery"]) == ({}, None)


def test_a_file_that_is_deleted_at_the_last_moment_stays_deleted(tmp_path: Path) -> None:
    found = play(tmp_path, "delete", "at", 2)
    assert "rolled back" in found["said"]
    assert found["files"] == OLD | {SECOND: None}
    assert (found["others"], found["recovery"]) == ({}, None)


@pytest.mark.parametrize("moment", ["before", "at"])
def test_a_directory_that_is_moved_meanwhile_has_the_old_files_wherever_it_is(tmp_path: Path, moment: str) -> None:
    """The copy that was put in its place was told to be all; the moved one kept the new bytes, and a backup."""
    found = play(tmp_path, "move", moment, 2)
    assert found["said"].startswith(f"{SECOND}: its directory was moved meanwhile; rolled back")
    assert found["files"] == OLD
    assert found["others"] == {"away/notes.md": f"old {SECOND}"}
    assert found["recovery"] is None


@pytest.mark.parametrize("number", range(1, len(FILES) + 1))
def test_an_exchange_that_fails_leaves_all_old(tmp_path: Path, number: int) -> None:
    found = play(tmp_path, "fail", "at", number)
    assert "rolled back, nothing is changed" in found["said"]
    assert (found["files"], found["others"], found["recovery"]) == (OLD, {}, None)


@pytest.mark.parametrize(
    ("what", "number", "first"), [("edit done", 3, "mine"), ("edit done, fail", 2, "mine"), ("fail for good", 2, "new")]
)
def test_what_cannot_be_put_back_is_named_and_the_recovery_file_says_how(
    tmp_path: Path, what: str, number: int, first: str
) -> None:
    """An exchanged file was edited, or the disk that fails the next exchange fails the undoing too."""
    found = play(tmp_path, what, "at", number)
    assert found["said"].startswith(f"{recovery.NAME}: ")
    assert f"{FILES[0]} could not be put back; it says how to go on for each file" in found["said"]
    assert found["files"] == OLD | {FILES[0]: first}
    stuck = found["recovery"]
    assert (stuck["state"], [file["path"] for file in stuck["files"]]) == ("stuck", [FILES[0]])
    [beside] = found["others"]
    assert found["others"][beside] == f"old {FILES[0]}"
    assert stuck["files"][0]["how"].startswith(f"to undo: if {beside} holds the old bytes")
    tree = tmp_path / "0"
    if first == "mine":
        with pytest.raises(ApplyFailed, match=f"edited since: {FILES[0]}"):
            recovery.recover(tree)
        (tree / beside).replace(tree / FILES[0])  # what `how` says
    assert recovery.recover(tree) == "an interrupted apply was undone"
    assert [(tree / path).read_text() for path in FILES] == [f"old {path}" for path in FILES]
    assert not (tree / recovery.NAME).exists()
