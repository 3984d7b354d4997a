from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.effects import skills
from bench.errors import CorpusError
from tests.effects.wheelmaking import write

FILES = {"SKILL.md": b"---\n", "scripts/run.sh": b"#!/bin/sh\n", "references/more/deep.md": b"deep"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "greet", FILES)


def test_all_regular_files_are_read_sorted(folder: Path) -> None:
    found = skills.read_skill_dir(folder)
    assert found == FILES
    assert list(found) == sorted(FILES)


def test_caches_and_git_are_left_out(folder: Path) -> None:
    write(folder, {".git/config": b"x", "scripts/__pycache__/a.pyc": b"x", ".DS_Store": b"x"})
    assert skills.read_skill_dir(folder) == FILES


@pytest.mark.parametrize("target", ["SKILL.md", "/etc/passwd", "scripts", "nothing"])
def test_a_link_is_refused_and_named(folder: Path, target: str) -> None:
    (folder / "scripts/link.md").symlink_to(target)
    with pytest.raises(CorpusError, match="symbolic link") as refused:
        skills.read_skill_dir(folder)
    assert refused.value.where.endswith("scripts/link.md")


def test_a_linked_directory_is_refused(folder: Path) -> None:
    (folder.parent / "linked").symlink_to("greet")
    with pytest.raises(CorpusError, match="is not a directory"):
        skills.read_skill_dir(folder.parent / "linked")
    (folder / "inner").symlink_to("scripts")
    with pytest.raises(CorpusError):
        skills.read_skill_dir(folder)


def test_a_fifo_is_refused_and_blocks_nothing(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    with pytest.raises(CorpusError, match="not a regular file"):
        skills.read_skill_dir(folder)


def test_what_is_absent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such directory"):
        skills.read_skill_dir(tmp_path / "nothing")


def test_the_bounds_hold_exactly(folder: Path) -> None:
    # 3 files and 3 directories
    assert skills.read_skill_dir(folder, entries=6) == FILES
    with pytest.raises(CorpusError, match="more than 5 directory entries"):
        skills.read_skill_dir(folder, entries=5)
    size = sum(len(data) for data in FILES.values())
    assert skills.read_skill_dir(folder, limit=size) == FILES
    with pytest.raises(CorpusError, match="bytes"):
        skills.read_skill_dir(folder, limit=size - 1)
