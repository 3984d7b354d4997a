"""The stamp answers a bare `doit` over untouched files, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

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
    (place / stamp.NAME).write_bytes(stamp.leave(place, PATHS, "all stands\n", until))


def asked(place: Path, *arguments: str) -> str:
    argv = [sys.executable, "-c", ASK.format(str(place / "dodo.py")), "-", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def test_untouched_files_are_answered(place: Path):
    assert asked(place) == "all stands\n"
    assert asked(place, "run") == "all stands\n"


@pytest.mark.parametrize("arguments", [("suite:demo",), ("-n", "2"), ("list",), ("runs=3",)])
def test_any_argument_falls_through(place: Path, arguments: tuple[str, ...]):
    assert asked(place, *arguments) == "asked on\n"


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
