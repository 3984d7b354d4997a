"""Listings of trusted folders: names and modes, sorted, and nothing that is neither file nor folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.effects import listing
from bench.errors import CorpusError


def test_files_links_and_modes_below_a_folder(tmp_path: Path):
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("b/c/z", "b/a", "a"):
        (tmp_path / name).write_text("x")
    (tmp_path / "b" / "a").chmod(0o755)
    (tmp_path / "link").symlink_to("b/a")
    (tmp_path / "dir").symlink_to("b")
    for skipped in (".git", "__pycache__"):
        (tmp_path / skipped).mkdir()
        (tmp_path / skipped / "x").write_text("x")
    found = listing.below(tmp_path, links=True, where="here")
    assert found.files == ["a", "b/a", "b/c/z"]
    assert found.executable == ["b/a"]
    assert found.links == {"link": "b/a", "dir": "b"}


def test_links_are_refused_where_they_have_no_place(tmp_path: Path):
    (tmp_path / "link").symlink_to("x")
    with pytest.raises(CorpusError, match="here/link"):
        listing.below(tmp_path, links=False, where="here")


def test_a_fifo_is_named_and_never_opened(tmp_path: Path):
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "a" / "fifo")
    with pytest.raises(CorpusError, match="here/a/fifo"):
        listing.below(tmp_path, links=True, where="here")


@pytest.mark.parametrize("name", ["absent", "file"])
def test_what_is_no_folder(tmp_path: Path, name: str):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CorpusError, match="is not a directory"):
        listing.below(tmp_path / name, links=True, where="here")
