"""The digest index: believed by stat, torn anywhere without harm, a snapshot per process."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import digest, records
from bench.core.records import Record, sealed
from bench.make.index import ABSENT, Index

TARGET = "artifacts/cells/s/t/a/0.json"
KEY = "b3:" + "1" * 64


def index(root: Path) -> Index:
    made = Index(root, root / "artifacts" / ".doit.db")
    made.writable = True
    return made


def record(root: Path) -> Record:
    made = sealed(Record("cell", "s/t/a/0", KEY, {}, {}, records.FINAL, None, {}, {"x": 1}))
    path = root / TARGET
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.to_bytes())
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


def test_a_noted_record_is_known_to_the_next_process_until_it_is_touched(root: Path):
    made = record(root)
    index(root).note(TARGET, made, "sign")
    facts = index(root).known(TARGET)
    assert facts is not None
    assert (facts.seal, facts.key, facts.state, facts.sign) == (made.seal, KEY, records.FINAL, "sign")
    path = root / TARGET
    before = path.stat()
    path.write_bytes(made.to_bytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert index(root).known(TARGET) is None, "given-back times do not hide a write"


def test_a_raw_files_digest_is_a_snapshot_for_the_process(root: Path):
    (root / "file").write_text("one")
    first = index(root)
    assert first.digest("file") == digest.of_bytes(b"one")
    assert first.unmoved(["file"])
    (root / "file").write_text("two!")
    assert first.digest("file") == digest.of_bytes(b"one")
    assert first.file_digest("file") == digest.of_bytes(b"two!")
    assert not first.unmoved(["file"]), "and it is known to have moved"
    assert index(root).digest("file") == digest.of_bytes(b"two!")


def test_what_is_no_file_is_absent_and_does_not_block(root: Path):
    os.mkfifo(root / "fifo")
    (root / "folder").mkdir()
    (root / "dangling").symlink_to("nowhere")
    for name in ("fifo", "folder", "dangling", "absent"):
        assert index(root).digest(name) == ABSENT


def test_a_record_that_is_forged_or_torn_has_no_content(root: Path):
    made = record(root)
    (root / TARGET).write_bytes(made.to_bytes()[:-5])
    assert index(root).digest(TARGET) == ABSENT


@given(st.integers(0, 400), st.binary(max_size=40))
def test_any_damage_to_the_file_costs_lines_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
):
    root = tmp_path_factory.mktemp("ws")
    made = record(root)
    (root / "file").write_text("one")
    first = index(root)
    first.note(TARGET, made, "sign")
    first.file_digest("file")
    first.rows["a"] = {"deps:": []}
    first.commit("a")
    data = first.path.read_bytes()
    first.path.write_bytes(data[: max(0, len(data) - cut)] + junk)
    second = index(root)
    assert second.digest("file") == digest.of_bytes(b"one")
    second.note(TARGET, made, "again")
    third = index(root)
    facts = third.known(TARGET)
    assert facts is not None
    assert facts.sign == "again", "what is written after the damage is whole"


@pytest.mark.parametrize(
    "line", [b"[]", b"7", b'"x"', b'["all"]', b'["all",[],{},{}]', b'["r","x",[1]]', b'["t"]', b"{}", b"[[[", b'["f","x"]']
)
def test_foreign_lines_are_passed_over(root: Path, line: bytes):
    (root / "artifacts").mkdir()
    (root / "artifacts" / ".doit.db").write_bytes(line + b"\n" + b'["t","a",{"deps:":[]}]\n')
    found = index(root)
    found.load()
    assert found.rows == {"a": {"deps:": []}}


def test_a_reader_writes_nothing(root: Path):
    (root / "file").write_text("one")
    reader = Index(root, root / "artifacts" / ".doit.db")
    reader.digest("file")
    reader.close()
    assert not (root / "artifacts").exists()


def test_a_long_file_is_rewritten_at_the_end_and_says_the_same(root: Path):
    made = record(root)
    first = index(root)
    first.note(TARGET, made, "sign")
    for number in range(2100):
        first.rows["a"] = {"deps:": [number]}
        first.commit("a")
    size = first.path.stat().st_size
    first.close()
    assert first.path.stat().st_size < size / 10
    again = index(root)
    assert again.known(TARGET) is not None
    assert again.rows["a"] == {"deps:": [2099]}


def test_a_full_disk_is_kept_in_mind_and_raised_by_nobody(root: Path):
    first = index(root)
    (root / "file").write_text("one")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        assert first.digest("file") == digest.of_bytes(b"one")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert first.fault is not None
    assert first.fault.exit_code == 3
