"""The stamp answers a bare `doit` over untouched files, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.core import digest
from bench.make import stamp

ASK = "import sys; sys.argv = ['doit', *sys.argv[2:]]; from bench.make import stamp; stamp.answer({!r}); print('asked on')"
PATHS = ["corpus/a.yaml", "artifacts/cells/x.json"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "dodo.py").write_text("")
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("1")
    write(tmp_path)
    return tmp_path


def write(place: Path, expires: float | None = None) -> None:
    until = time.time() + 3600 if expires is None else expires
    inputs = {"corpus/a.yaml": digest.of_bytes((place / "corpus/a.yaml").read_bytes()), "corpus": ""}
    answers = {"": "all stands\n", "suite:demo": "demo stands\n"}
    (place / stamp.NAME).write_bytes(stamp.leave(place, PATHS, inputs, answers, until))


def asked(place: Path, *arguments: str) -> str:
    argv = [sys.executable, "-c", ASK.format(str(place / "dodo.py")), "-", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def test_untouched_files_are_answered(place: Path):
    assert asked(place) == "all stands\n"
    assert asked(place, "run") == "all stands\n"


@pytest.mark.parametrize(
    "arguments", [("suite:demo",), ("run", "suite:demo"), ("-n", "2", "suite:demo"), ("suite:demo", "-n", "64")]
)
def test_the_words_of_that_run_are_answered_whatever_the_workers(place: Path, arguments: tuple[str, ...]):
    assert asked(place, *arguments) == "demo stands\n"
    assert asked(place, "-n", "2") == "all stands\n"


ELSE = [
    ("suite:pypi",),
    ("list",),
    ("clean", "suite:demo"),
    ("runs=3",),
    ("suite:demo", "runs=3"),
    ("suite:demo", "suite:demo"),
]
ODD = [("-n", "0"), ("-n", "65"), ("-n",), ("-n2x",), ("--wait",), ("-f", "dodo.py"), ("--process", "2")]


@pytest.mark.parametrize("arguments", [*ELSE, *ODD])
def test_any_other_argument_falls_through(place: Path, arguments: tuple[str, ...]):
    assert asked(place, *arguments) == "asked on\n"


def test_a_run_that_named_its_steps_has_a_stamp_of_its_own(place: Path):
    (place / stamp.NAMED).write_bytes(stamp.leave(place, PATHS, {}, {"health:demo report:demo": "both\n"}, time.time() + 9))
    assert asked(place, "health:demo", "report:demo") == "both\n"
    assert asked(place) == "all stands\n"


def rewritten(place: Path) -> None:
    text = (place / PATHS[0]).read_text()
    (place / "corpus" / "new").write_text(text)
    (place / "corpus" / "new").replace(place / PATHS[0])


def touched(place: Path) -> None:
    os.utime(place / PATHS[0], (1, 1))


def same_size_and_time(place: Path) -> None:
    before = (place / PATHS[0]).stat()
    (place / PATHS[0]).write_text("2")
    os.utime(place / PATHS[0], ns=(before.st_atime_ns, before.st_mtime_ns))


def mode(place: Path) -> None:
    (place / PATHS[0]).chmod(0o755)


def link(place: Path) -> None:
    (place / PATHS[0]).rename(place / "elsewhere")
    (place / PATHS[0]).symlink_to(place / "elsewhere")


def pipe(place: Path) -> None:
    (place / PATHS[0]).unlink()
    os.mkfifo(place / PATHS[0])


@pytest.mark.parametrize("change", [rewritten, touched])
def test_an_input_with_the_same_content_is_the_same_input(place: Path, change: Callable[[Path], None]):
    change(place)
    assert asked(place) == "all stands\n"


@pytest.mark.parametrize("change", [same_size_and_time, mode, link, pipe])
def test_an_input_that_differs_in_content_kind_or_mode_falls_through(place: Path, change: Callable[[Path], None]):
    change(place)
    assert asked(place) == "asked on\n"


def test_what_was_made_is_compared_by_its_stat_alone(place: Path):
    (place / PATHS[1]).touch()
    assert asked(place) == "asked on\n"


@pytest.mark.parametrize("path", [*PATHS, "dodo.py"])
def test_an_edit_falls_through(place: Path, path: str):
    (place / path).write_text("2")
    assert asked(place) == "asked on\n"


def test_a_file_that_is_gone_or_new_falls_through(place: Path):
    (place / PATHS[1]).unlink()
    assert asked(place) == "asked on\n"
    write(place)
    assert asked(place) == "all stands\n"
    (place / "corpus" / "b.yaml").write_text("new")
    assert asked(place) == "asked on\n"


def test_another_value_of_a_variable_that_was_read_falls_through(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BENCH_CLAUDE", "/opt/claude")
    (place / stamp.NAME).write_bytes(stamp.leave(place, PATHS, {}, {"": "all stands\n"}, time.time() + 9, ["BENCH_CLAUDE"]))
    assert asked(place) == "all stands\n"
    monkeypatch.setenv("UNRELATED", "1")
    assert asked(place) == "all stands\n"
    monkeypatch.setenv("BENCH_CLAUDE", "/opt/other")
    assert asked(place) == "asked on\n"
    monkeypatch.delenv("BENCH_CLAUDE")
    assert asked(place) == "asked on\n"


def test_evidence_that_has_grown_too_old_falls_through(place: Path):
    write(place, time.time() - 1)
    assert asked(place) == "asked on\n"


@pytest.mark.parametrize("damage", [b"", b"{}", b"{}\n", b'{"format": 1}\nx', b"\xff\xfe"])
def test_a_damaged_stamp_falls_through(place: Path, damage: bytes):
    (place / stamp.NAME).write_bytes(damage)
    assert asked(place) == "asked on\n"


def test_it_imports_nothing_of_ours(place: Path):
    code = "import sys, bench.make.stamp; print(sorted(m for m in sys.modules if m.startswith('bench')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "['bench', 'bench.make', 'bench.make.stamp']"
