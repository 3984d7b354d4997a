"""Private copies."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.effects import aside
from bench.effects.sandbox import Workspace, copy
from bench.errors import IntegrityError


def test_bytes_modes_times_and_links_are_kept(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "d").mkdir(parents=True)
    (source / "d" / "f").write_bytes(b"data")
    (source / "d" / "f").chmod(0o751)
    os.utime(source / "d" / "f", ns=(10**18, 10**18))
    (source / "l").symlink_to("/nowhere")
    (source / "d").chmod(0o711)
    copy.clone(source, tmp_path / "target")
    made = tmp_path / "target" / "d" / "f"
    assert (made.read_bytes(), made.stat().st_mode & 0o777, made.stat().st_mtime_ns) == (b"data", 0o751, 10**18)
    assert str((tmp_path / "target" / "l").readlink()) == "/nowhere"
    assert (tmp_path / "target" / "d").stat().st_mode & 0o777 == 0o711


def test_holes_stay_holes(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    with open(tmp_path / "source" / "sparse", "wb") as out:
        out.truncate(1 << 33)
        out.seek(1 << 32)
        out.write(b"middle")
    size = copy.clone(tmp_path / "source", tmp_path / "target")
    made = tmp_path / "target" / "sparse"
    assert made.stat().st_size == 1 << 33
    assert size < 1 << 20
    with open(made, "rb") as stream:
        stream.seek(1 << 32)
        assert stream.read(8) == b"middle\0\0"


def test_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    os.mkfifo(tmp_path / "source" / "fifo")
    copy.clone(tmp_path / "source", tmp_path / "target")
    assert list((tmp_path / "target").iterdir()) == []


def test_the_copy_lies_under_a_neutral_name_and_is_private(tmp_path: Path) -> None:
    (tmp_path / "template").mkdir()
    workspace = Workspace(tmp_path / "template", tmp_path / "upper", "copy")
    copy.Copy().prepare(workspace)
    place = Path((tmp_path / "upper" / "place").read_text())
    assert place.parent == Path(tempfile.gettempdir())
    assert place.stat().st_mode & 0o777 == 0o700
    assert tmp_path.name not in place.name
    copy.Copy().discard(workspace)
    assert not place.exists()


@contextlib.contextmanager
def a_full_disk(size: int) -> Iterator[None]:
    """No file grows beyond `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def copies() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob(f"{copy.MARK}{aside.maker()}-*"))


@pytest.mark.parametrize("size", [1, 1 << 16])
def test_a_full_disk_leaves_no_part_of_a_copy(tmp_path: Path, size: int) -> None:
    (tmp_path / "template").mkdir()
    (tmp_path / "template" / "large").write_bytes(os.urandom(1 << 20))
    before = copies()
    workspace = Workspace(tmp_path / "template", tmp_path / "upper", "copy")
    with a_full_disk(size), pytest.raises(OSError, match="File too large"):
        copy.Copy().prepare(workspace)
    assert copies() == before
    copy.Copy().prepare(workspace)
    kept = copies()
    frozen = dataclasses.replace(workspace, frozen=True)
    with a_full_disk(size), pytest.raises(OSError, match="File too large"):
        copy.Copy().layers(frozen)
    assert copies() == kept
    copy.Copy().discard(workspace)
    assert copies() == before


def test_a_forged_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "upper").mkdir()
    (tmp_path / "upper" / "place").write_text("/etc")
    with pytest.raises(IntegrityError):
        copy.Copy().layers(Workspace(tmp_path, tmp_path / "upper", "copy"))


def test_copies_of_a_killed_harness_are_swept(tmp_path: Path) -> None:
    room = Path("/proc/self/ns/pid").stat().st_ino
    left = Path(tempfile.mkdtemp(prefix=f"{copy.MARK}{room}-999999999-"))
    live = Path(tempfile.mkdtemp(prefix=f"{copy.MARK}{room}-{os.getpid()}-"))
    copy.sweep()
    assert (left.exists(), live.exists()) == (False, True)
    live.rmdir()
