"""Directories made aside: whole or absent, whoever else makes them, and nothing left of a maker that was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench.effects import aside
from bench.errors import StorageRefused

HANGS = """
import sys, time
from pathlib import Path
from bench.effects import aside

def fill(making):
    (making / 'half').mkdir()
    print(making, flush=True)
    time.sleep(1000)

aside.make(Path(sys.argv[1]), fill)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_filled_is_whole_and_alone(tmp_path: Path) -> None:
    target = tmp_path / "a" / "made"
    assert aside.make(target, lambda making: (making / "f").write_text("x") and None) == target
    assert (names(target.parent), (target / "f").read_text(), target.stat().st_mode & 0o777) == (["made"], "x", 0o755)


def test_a_fault_while_it_is_filled_leaves_nothing(tmp_path: Path) -> None:
    def fill(making: Path) -> None:
        (making / "f").write_text("x")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        aside.make(tmp_path / "made", fill)
    assert names(tmp_path) == []


def test_the_first_of_two_makers_wins_and_neither_fails(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def fill(making: Path) -> None:
        (making / "f").write_text("x")
        both.wait()

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(lambda _: aside.make(tmp_path / "made", fill), range(2))) == {tmp_path / "made"}
    assert names(tmp_path) == ["made"]


def test_something_else_under_its_name_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "made").write_text("a file")
    with pytest.raises(OSError, match="made"):
        aside.make(tmp_path / "made", lambda making: None)
    assert (names(tmp_path), (tmp_path / "made").read_text()) == (["made"], "a file")


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageRefused):
        aside.make(Path("/sys/nowhere/made"), lambda making: None)


def test_the_next_maker_sweeps_what_a_killed_one_left_and_not_a_living_one_s(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HANGS, str(tmp_path / "other")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        half = Path(one.stdout.readline().strip())
        aside.make(tmp_path / "made", lambda making: None)
        assert half.is_dir()
        one.send_signal(signal.SIGKILL)
    aside.make(tmp_path / "more", lambda making: None)
    assert names(tmp_path) == ["made", "more"]


def test_what_somebody_elsewhere_makes_is_never_swept(tmp_path: Path) -> None:
    """Another namespace of processes: its numbers say nothing here."""
    room = int(aside.maker().split("-")[0])
    kept = [f"x-{room + 1}-999999999-a", f"x-{room}-{os.getpid()}-b", f"x-{room}-word-c", "x-1-2", "y"]
    for name in [*kept, f"x-{room}-999999999-d"]:
        (tmp_path / name).mkdir()
    (tmp_path / f"x-{room}-999999999-link").symlink_to(tmp_path / "y")
    aside.sweep(tmp_path, "x-")
    assert names(tmp_path) == sorted([*kept, f"x-{room}-999999999-link"])
