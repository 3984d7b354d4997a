from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.effects.sessions.handed_in import ABSENT, IRREGULAR, UNREADABLE, Taken, lay, take
from bench.errors import StepFailed

NAME = "out.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return lay(tmp_path / "handed-in")


def test_the_directory_is_empty_and_writable_by_whoever_the_session_is(folder: Path) -> None:
    assert (list(folder.iterdir()), folder.stat().st_mode & 0o777) == ([], 0o777)


@pytest.mark.parametrize("kind", ["directory", "file", "link"])
def test_what_is_there_before_is_refused(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "handed-in"
    {"directory": place.mkdir, "file": place.touch, "link": lambda: place.symlink_to(tmp_path)}[kind]()
    with pytest.raises(StepFailed, match="something where the session"):
        lay(place)


def test_a_file_is_taken_as_it_is(folder: Path) -> None:
    (folder / NAME).write_bytes(b"{}")
    assert take(folder, NAME, 2) == Taken(b"{}")
    (folder / NAME).write_bytes(b"")
    assert take(folder, NAME, 2) == Taken(b"")


def test_nothing_was_written(folder: Path) -> None:
    assert take(folder, NAME, 9).problem == ABSENT


def irregular(folder: Path, kind: str) -> None:
    place = folder / NAME
    if kind == "link":
        (folder / "other").write_bytes(b"{}")
        place.symlink_to("other")
    elif kind == "dangling":
        place.symlink_to("/nowhere")
    elif kind == "directory":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.write_bytes(b"x" * 10)


@pytest.mark.parametrize("kind", ["link", "dangling", "directory", "fifo", "too long"])
def test_nothing_but_a_bounded_regular_file_is_opened(folder: Path, kind: str) -> None:
    irregular(folder, kind)
    assert take(folder, NAME, 9).problem == IRREGULAR


def test_a_file_without_the_right_to_read_is_unreadable_for_root_too(folder: Path) -> None:
    (folder / NAME).write_bytes(b"{}")
    (folder / NAME).chmod(0)
    found = take(folder, NAME, 9)
    assert (found.problem, found.words) == (UNREADABLE, "Permission denied")


def test_a_directory_that_is_gone_is_unreadable(tmp_path: Path) -> None:
    assert take(tmp_path / "gone", NAME, 9).problem == UNREADABLE
