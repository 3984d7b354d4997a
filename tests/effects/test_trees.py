"""Trees: read, packed, unpacked and expanded without losing or adding a byte."""

import io
import os
import stat
import tarfile
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.effects import aside, trees
from bench.effects.store import open_store
from bench.effects.trees import Entry
from bench.errors import CorpusError, IntegrityError, SourceError

NAME = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1, max_size=6)
CONTENT = st.tuples(st.sampled_from(["100644", "100755", "120000"]), st.binary(min_size=1, max_size=30))


@st.composite
def tree(draw):
    files = draw(st.dictionaries(NAME.filter(lambda n: n not in (".", "..")), CONTENT, max_size=5))
    return [
        Entry(f"{folder}{name}", mode, data.replace(b"\0", b"0") if mode == "120000" else data)
        for name, (mode, data) in files.items()
        for folder in ("", "a folder/", "ü/ö/")
        if f"{folder}{name}" not in ("ü", "a folder", "ü/ö")
    ]


@settings(deadline=None, max_examples=50)
@given(tree())
def test_pack_unpack_read_round_trip(tmp_path_factory, entries):
    root = tmp_path_factory.mktemp("t") / "x"
    packed = trees.pack(entries)
    trees.unpack(packed, root)
    assert trees.read(root) == trees.entries_of(packed)
    assert trees.pack(reversed(entries)) == packed
    assert trees.tree_digest(reversed(entries)) == trees.tree_digest(trees.read(root))


def test_digest_is_pinned():
    entries = [Entry("b", "100755", b"1"), Entry("a", "120000", b"b")]
    assert trees.tree_digest(entries) == "b3:fa6218865e1feceb689edee16a2c5bb93fc418d16e0dd7231a8bfab881c37586"


def test_modes_do_not_depend_on_the_umask(tmp_path):
    old = os.umask(0o077)
    try:
        trees.unpack(trees.pack([Entry("d/f", "100644", b""), Entry("x", "100755", b"")]), tmp_path / "t")
    finally:
        os.umask(old)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.rglob("*")}
    assert modes == {"t": 0o755, "d": 0o755, "f": 0o644, "x": 0o755}


def test_unpack_never_writes_through_a_link_or_outside(tmp_path):
    for paths in (["../out"], ["/tmp/assay-out"], ["a/./b"], ["a//b"], ["a", "a/b"], ["a", "a"]):
        packed = trees.pack([Entry(path, "100644", b"x") for path in paths])
        with pytest.raises(IntegrityError, match="a packed tree"):
            trees.unpack(packed, tmp_path / "t" / str(len(paths[0])) / str(len(paths)))
    packed = trees.pack([Entry("a", "120000", os.fsencode(tmp_path)), Entry("a/planted", "100644", b"x")])
    with pytest.raises(IntegrityError, match="twice"):
        trees.unpack(packed, tmp_path / "u")
    assert not (tmp_path / "planted").exists()
    assert not (tmp_path / "out").exists()


def test_a_tar_of_another_hand_is_an_integrity_error():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        info = tarfile.TarInfo("pipe")
        info.type = tarfile.FIFOTYPE
        tar.addfile(info)
    for bad in (out.getvalue(), b"junk", b""):
        with pytest.raises(IntegrityError, match="packed tree"):
            trees.entries_of(bad)


def test_read_refuses_special_files_and_what_it_may_not_read(tmp_path):
    (tmp_path / "a/skipped").mkdir(parents=True)
    os.mkfifo(tmp_path / "a/skipped/pipe")
    assert trees.read(tmp_path, skip=lambda path: path == "a/skipped") == []
    with pytest.raises(SourceError, match="a/skipped/pipe: a device"):
        trees.read(tmp_path)


def test_read_stops_at_the_limits(tmp_path):
    with open(tmp_path / "sparse", "wb") as sparse:
        sparse.truncate(trees.MAX_BYTES + 1)
    with pytest.raises((SourceError, CorpusError), match="larger"):
        trees.read(tmp_path)


def test_expand_makes_once_among_many_and_cleans_up_after_a_failure(tmp_path):
    store = open_store(tmp_path)
    blob = store.put(trees.pack([Entry("f", "100644", b"x")])).blob
    made, results = [], []
    start = threading.Barrier(8)

    def work():
        start.wait()
        results.append(trees.expand(store, blob, lambda root, entries: made.append(root)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == len(made) == 1

    def fail(root, entries):
        raise SourceError("no")

    with pytest.raises(SourceError):
        trees.expand(store, blob, fail, variant=".other")
    assert [p.name for p in (tmp_path / "trees").iterdir()] == [results[0].name]


def test_what_a_killed_maker_left_is_swept_and_a_living_ones_is_not(tmp_path):
    store = open_store(tmp_path)
    blob = store.put(trees.pack([Entry("f", "100644", b"x")])).blob
    dead, alive = (tmp_path / f"trees/.new-{aside.maker().split('-')[0]}-{number}-x" for number in (999999999, os.getppid()))
    for half in (dead, alive):
        (half / "deep").mkdir(parents=True)
    trees.expand(store, blob)
    assert not dead.exists()
    assert alive.exists()


def test_copy_keeps_links_modes_and_times(tmp_path):
    trees.unpack(trees.pack([Entry("l", "120000", b"f"), Entry("f", "100755", b"x")]), tmp_path / "a")
    os.utime(tmp_path / "a/f", (1, 1))
    trees.copy(tmp_path / "a", tmp_path / "b")
    assert trees.read(tmp_path / "b") == trees.read(tmp_path / "a")
    assert (tmp_path / "b/f").stat().st_mtime == 1
