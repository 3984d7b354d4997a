"""Archives as entries: the dangers of tar and zip, one by one."""

import io
import tarfile
import tracemalloc
import zipfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.effects.sources import archive
from bench.effects.trees import MAX_BYTES, Entry
from bench.errors import SourceError
from tests.effects.indexserver import bomb, sdist


def special(name, kind, target="", mode=0o644):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, target, mode
    return info


def zipped(*files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, mode, data in files:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            made.writestr(info, data)
    return out.getvalue()


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_files_modes_and_links_in_every_compression(mode):
    files = {
        "PKG-INFO": b"Name: p\n",
        "folder": special("p-1/folder", tarfile.DIRTYPE),
        "run": b"#!/bin/sh\n",
        "soft": special("p-1/soft", tarfile.SYMTYPE, "run"),
        "hard": special("p-1/hard", tarfile.LNKTYPE, "p-1/run"),
    }
    assert archive.entries(sdist("p-1", files, mode)) == [
        Entry("PKG-INFO", "100644", b"Name: p\n"),
        Entry("hard", "100644", b"#!/bin/sh\n"),
        Entry("run", "100644", b"#!/bin/sh\n"),
        Entry("soft", "120000", b"run"),
    ]


def test_zip_sdists():
    made = zipped(("p-1/", 0o40755, b""), ("p-1/run", 0o100755, b"x"), ("p-1/l", 0o120777, b"run"), ("p-1/f", 0, b""))
    assert archive.entries(made) == [
        Entry("f", "100644", b""),
        Entry("l", "120000", b"run"),
        Entry("run", "100755", b"x"),
    ]


def test_leading_dots_and_harmless_repeats():
    files = {"a": b"1", "again": special("p-1/a", tarfile.LNKTYPE, "p-1/a")}
    assert archive.entries(sdist("./p-1", files)) == [Entry("a", "100644", b"1")]


def large_header(size, chain=1):
    """An archive whose first file has `chain` extended headers of `size` bytes each."""
    head = tarfile.TarInfo("p-1/header")
    head.type, head.size = tarfile.XHDTYPE, size
    text = b"%d comment=" % size
    record = text + bytes(size - len(text) - 1) + b"\n" + bytes(-size % 512)
    packer = zlib.compressobj(wbits=31)
    made = b"".join(packer.compress(head.tobuf()) + packer.compress(record) for _ in range(chain))
    return made + packer.compress(tarfile.TarInfo("p-1/a").tobuf() + bytes(1024)) + packer.flush()


def encrypted():
    made = zipped(("p-1/x", 0o100644, b"secret"))
    at = made.index(b"PK\1\2") + 8
    return made[:6] + b"\1" + made[7:at] + b"\1" + made[at + 1 :]


HOSTILE = {
    "parent": sdist("p-1", {"../../etc/passwd": b"x"}),
    "absolute": sdist("/p-1", {"a": b"x"}),
    "device": sdist("p-1", {"null": special("p-1/null", tarfile.CHRTYPE)}),
    "block device": sdist("p-1", {"disk": special("p-1/disk", tarfile.BLKTYPE)}),
    "fifo": sdist("p-1", {"pipe": special("p-1/pipe", tarfile.FIFOTYPE)}),
    "hard link out": sdist("p-1", {"h": special("p-1/h", tarfile.LNKTYPE, "/etc/passwd")}),
    "hard link above": sdist("p-1", {"h": special("p-1/h", tarfile.LNKTYPE, "../x")}),
    "hard link forward": sdist("p-1", {"h": special("p-1/h", tarfile.LNKTYPE, "p-1/later"), "later": b"x"}),
    "two contents": sdist("p-1", {"a": b"1", "b": special("p-1/a", tarfile.SYMTYPE, "c")}),
    "second top": sdist("p-1", {"a": b"1", "x": special("q-1/x", tarfile.SYMTYPE, "y")}),
    "no top": sdist("p-1", {"a": b"1", "x": special("setup.py", tarfile.SYMTYPE, "y")}),
    "empty": sdist("p-1", {}),
    "only folders": sdist("p-1", {"d": special("p-1/d", tarfile.DIRTYPE)}),
    "bomb": bomb(MAX_BYTES + 1),
    "large header": large_header(2 << 20),
    "headers without end": large_header(100, 3000),
    "zip encrypted": encrypted(),
    "torn": sdist("p-1", {"a": b"x" * 5000})[:-30],
    "not an archive": b"hello",
    "nothing": b"",
    "zip parent": zipped(("p-1/../../x", 0o100644, b"")),
    "zip fifo": zipped(("p-1/x", 0o010644, b"")),
    "zip torn": zipped(("p-1/x", 0o100644, b""))[:-5],
    "name not UTF-8": sdist("p-1", {"a": b"1"}, "w").replace(b"p-1/a\0", b"p-1/\xff\0"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_archives_are_refused_in_one_line(case):
    with pytest.raises(SourceError) as caught:
        archive.entries(HOSTILE[case])
    assert "\n" not in str(caught.value)


def test_a_header_that_says_it_is_large_is_not_read():
    data = large_header(64 << 20)
    assert len(data) < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(SourceError, match="headers of more than"):
            archive.entries(data)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_long_paths_and_notes_are_read():
    files = {f"{n:03}/{'long/' * 700}f": b"x" * 3000 for n in range(400)}
    found = archive.entries(sdist("p-1", files))
    assert {entry.path: entry.data for entry in found} == files


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 255))
def test_damage_is_refused_or_harmless_never_a_crash(junk, at, byte):
    whole = bytearray(sdist("p-1", {"a": b"x" * 40, "b": b"y"}, "w"))
    whole[at % len(whole)] = byte
    for data in (junk, bytes(whole), b"PK\3\4" + junk, b"\x1f\x8b\x08" + junk):
        try:
            entries = archive.entries(data)
        except SourceError:
            continue
        assert all(not entry.path.startswith("/") and ".." not in entry.path.split("/") for entry in entries)
