"""Files: whole or absent, never through a link, deleted whatever their modes."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects import files
from bench.errors import CorpusError, StorageRefused


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """A disk that is full after so many bytes, as far as one file is concerned."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_written_file_is_whole_private_and_alone(tmp_path: Path):
    path = tmp_path / "a" / "b"
    files.write_atomic(path, b"one")
    files.write_atomic(path, b"two", mode=0o400)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o400
    assert [p.name for p in path.parent.iterdir()] == ["b"]


def test_a_full_disk_leaves_the_old_file_and_nothing_half_written(tmp_path: Path):
    path = tmp_path / "record"
    files.write_atomic(path, b"old")
    with largest_file(1000), pytest.raises(StorageRefused, match="cannot write"):
        files.write_atomic(path, b"x" * 5000)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["record"]


def test_a_write_that_breaks_off_for_another_reason_leaves_nothing_behind(tmp_path: Path):
    with pytest.raises(TypeError):
        files.write_atomic(tmp_path / "x", object())  # stands for any interruption
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG])
def test_faults_of_the_storage_are_named_with_path_and_remedy(number: int):
    fault = files.storage_fault(OSError(number, "x"), "artifacts/x")
    assert fault is not None
    assert str(fault).startswith("artifacts/x: cannot write, ")
    assert fault.remedy


def test_other_faults_are_none_of_the_storage():
    assert files.storage_fault(OSError(errno.ENOENT, "x"), "x") is None
    assert files.storage_fault(OSError("no number"), "x") is None


@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b" ")), max_size=8), st.binary(max_size=20))
def test_lines_after_a_torn_one_stay_whole(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], torn: bytes):
    path = tmp_path_factory.mktemp("lines") / "log"
    path.write_bytes(torn)
    for line in lines:
        files.append_line(path, line)
    ended = torn == b"" or torn.endswith(b"\n")
    gap = b"" if ended or not lines else b"\n"
    assert path.read_bytes() == torn + gap + b"".join(line + b"\n" for line in lines)


def test_a_line_that_did_not_fit_does_not_take_the_next_one_with_it(tmp_path: Path):
    path = tmp_path / "log"
    files.append_line(path, b"first")
    with largest_file(20), pytest.raises(StorageRefused):
        files.append_line(path, b"x" * 100)
    files.append_line(path, b"last")
    assert path.read_bytes().splitlines()[0] == b"first"
    assert path.read_bytes().splitlines()[-1] == b"last"


def test_a_link_a_fifo_a_folder_and_a_large_file_are_not_read(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    assert files.read_regular(tmp_path / "file", 5) == b"12345"
    for name, why in [
        ("link", "symbolic link"),
        ("fifo", "not a regular file"),
        ("folder", "not a regular file"),
        ("absent", "no such file"),
    ]:
        with pytest.raises(CorpusError, match=why):
            files.read_regular(tmp_path / name, 100)
    with pytest.raises(CorpusError, match="the limit is 4"):
        files.read_regular(tmp_path / "file", 4)


def test_a_tree_goes_whatever_its_modes_and_what_its_links_point_at_stays(tmp_path: Path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    tree = tmp_path / "tree"
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "file").write_text("x")
    (tree / "a" / "link").symlink_to(kept, target_is_directory=True)
    (tree / "a" / "b").chmod(0)
    (tree / "a").chmod(0)
    files.remove_tree(tree)
    assert not tree.exists()
    assert (kept / "file").read_text() == "x"


def test_removing_a_link_a_file_or_nothing(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link", "absent"):
        files.remove_tree(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
