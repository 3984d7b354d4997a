"""What a session changed: read through the merged view, packed canonically, rebuilt from the store alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects import changes, trees
from bench.effects.changes import Changes
from bench.effects.sandbox import BACKINGS
from bench.effects.trees import Entry
from bench.errors import StepFailed
from tests.effects.grading.rooms import Room

FILES = {"a.txt": "one\r\ntwo", "src/m.py": "x = 1\n", "deep/er/z": b"\0\xff", "tool.sh": "#!/bin/sh\n"}

names = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",)), min_size=1, max_size=12)
paths = st.lists(names.filter(lambda n: n not in (".", "..")), min_size=1, max_size=3).map("/".join)
found = st.builds(
    lambda items, gone, odd: changes.of([Entry(p, m, d) for p, (m, d) in items.items()], gone),
    st.dictionaries(paths, st.tuples(st.sampled_from(["100644", "100755"]), st.binary(max_size=40)), max_size=6),
    st.lists(paths, max_size=4),
    st.none(),
)


@given(found)
def test_packed_changes_come_back_and_are_canonical(value: Changes) -> None:
    assert changes.unpack(value.pack()) == value
    again = changes.of(reversed(value.entries), reversed(value.deletions))
    assert again.pack() == value.pack()
    assert again.digest == value.digest


def test_undecodable_names_links_and_oddities_survive_packing() -> None:
    odd = os.fsdecode(b"caf\xe9\n.txt")
    value = Changes((Entry(odd, "120000", b"../x\xff"),), (os.fsdecode(b"\xfe"),), ((odd, "fifo"),))
    assert changes.unpack(value.pack()) == value
    assert value.digest is not None


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"\0" * 10240])
def test_damaged_changes_are_refused(damage) -> None:
    packed = changes.of([Entry("a", "100644", b"x" * 5000), Entry("b", "100644", b"y" * 5000)], []).pack()
    with pytest.raises(StepFailed, match="changes of a session"):
        changes.unpack(damage(packed))


@pytest.mark.parametrize(
    "said",
    [
        b'{"deletions": [1], "oddities": []}',
        b'{"deletions": [null], "oddities": []}',
        b'{"deletions": 1, "oddities": []}',
        b'{"deletions": [["a"]], "oddities": []}',
        b'{"deletions": [], "oddities": ["a"]}',
        b"[]",
        b"[" * 100_000,
    ],
)
def test_changes_in_other_words_are_refused(said: bytes) -> None:
    with pytest.raises(StepFailed, match="changes of a session"):
        changes.unpack(trees.pack([Entry("changes.json", "100644", said)]))


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "a//b"])
def test_packed_paths_that_leave_the_workspace_are_refused(path: str) -> None:
    with pytest.raises(StepFailed, match="leaves the workspace"):
        changes.unpack(changes.of([Entry(path, "100644", b"")], []).pack())


def test_no_change_has_no_digest(tmp_path: Path) -> None:
    room = Room(tmp_path, FILES)
    assert room.collect() == Changes()
    assert room.collect().digest is None
    assert not room.collect().any


@pytest.mark.parametrize("backing", sorted(BACKINGS))
def test_changes_are_read_and_rebuilt_exactly(tmp_path: Path, backing: str) -> None:
    """CRLF, no final newline, modes, renames, odd names, binary, links, a file that becomes a directory and back."""
    room = Room(tmp_path, FILES | {"was_file": "f", "was_dir/x": "d", "link_dir/y": "e"}, backing)
    room.agent(
        "import os, shutil\n"
        "open('a.txt', 'ab').write(b'\\r\\nthree')\n"
        "os.chmod('tool.sh', 0o755)\n"
        "os.rename('src/m.py', 'src/n.py')\n"
        "open(b'caf\\xe9 \"q\"\\n.bin', 'wb').write(b'\\0\\r\\n\\xff')\n"
        "os.symlink('../nowhere', 'src/link')\n"
        "os.remove('was_file'); os.mkdir('was_file'); open('was_file/in', 'w').write('now a directory')\n"
        "shutil.rmtree('was_dir'); open('was_dir', 'w').write('now a file')\n"
        "shutil.rmtree('link_dir'); os.symlink('src', 'link_dir')\n"
        "os.mkdir('empty')\n"
    )
    seen = room.collect()
    assert {e.path: (e.mode, e.data) for e in seen.entries} == {
        "a.txt": ("100644", b"one\r\ntwo\r\nthree"),
        "tool.sh": ("100755", b"#!/bin/sh\n"),
        "src/n.py": ("100644", b"x = 1\n"),
        os.fsdecode(b'caf\xe9 "q"\n.bin'): ("100644", b"\0\r\n\xff"),
        "src/link": ("120000", b"../nowhere"),
        "was_file/in": ("100644", b"now a directory"),
        "was_dir": ("100644", b"now a file"),
        "link_dir": ("120000", b"src"),
    }
    assert seen.deletions == ("link_dir/y", "src/m.py", "was_dir/x", "was_file")
    assert seen.oddities == ()
    room.workspace = room.layer("again")
    changes.apply(changes.unpack(seen.pack()), room.workspace, cancel=room.cancel)
    assert room.collect() == seen


def test_a_faked_modification_time_hides_nothing(tmp_path: Path) -> None:
    """Same size, same mtime, other bytes: the change time cannot be set from inside."""
    room = Room(tmp_path, FILES)
    room.agent(
        "import os; s = os.stat('src/m.py'); open('src/m.py', 'w').write('x = 2\\n');"
        "os.utime('src/m.py', ns=(s.st_atime_ns, s.st_mtime_ns))"
    )
    assert [e.data for e in room.collect().entries] == [b"x = 2\n"]


def test_touching_without_changing_is_no_change(tmp_path: Path) -> None:
    room = Room(tmp_path, FILES)
    room.agent("d = open('src/m.py').read(); open('src/m.py', 'w').write(d)")
    assert not room.collect().any


def test_files_that_bar_their_owner_are_read_all_the_same(tmp_path: Path) -> None:
    room = Room(tmp_path, FILES)
    room.agent(
        "import os; os.mkdir('shut'); open('shut/f', 'w').write('hidden')\n"
        "for path in ('shut/f', 'shut', 'a.txt'): os.chmod(path, 0)"
    )
    seen = room.collect()
    assert [(e.path, e.mode, e.data) for e in seen.entries] == [("shut/f", "100644", b"hidden")]
    assert not seen.deletions


def test_caches_and_bytecode_are_no_content(tmp_path: Path) -> None:
    room = Room(tmp_path, FILES)
    room.agent(
        "import os, py_compile\n"
        "os.mkdir('.pytest_cache'); open('.pytest_cache/x', 'w').write('x')\n"
        "py_compile.compile('src/m.py')\n"
    )
    assert room.collect() == Changes()
