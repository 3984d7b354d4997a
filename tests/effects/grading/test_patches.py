"""Patches are byte-exact both ways, whatever a workspace's own git files say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.effects import changes
from bench.effects.changes import Changes
from bench.effects.grading import patches
from bench.effects.trees import Entry
from bench.errors import StepFailed
from tests.effects.grading.rooms import Room

BEFORE = [
    Entry(".gitattributes", "100644", b"* text=auto eol=crlf ident\n*.bin -diff\n*.lfs filter=lfs diff=lfs -text\n"),
    Entry("crlf.txt", "100644", b"one\r\ntwo\r\n"),
    Entry("ident.c", "100644", b"$Id$\n"),
    Entry("long.txt", "100644", b"".join(b"line %d\n" % n for n in range(200))),
    Entry("run", "100644", b"#!/bin/sh\n"),
    Entry("x.bin", "100644", b"\0\1"),
]
ODD = ('q"uo\\te', "new\nline", "tab\t", " ", "ü", os.fsdecode(b"\xff"))
CASES = {
    "crlf": ([Entry("crlf.txt", "100644", b"one\r\nthree\r\n")], []),
    "lone-cr": ([Entry("crlf.txt", "100644", b"one\rtwo\r\n\n")], []),
    "no-final-newline": ([Entry("crlf.txt", "100644", b"one\r\ntwo")], []),
    "mode": ([Entry("run", "100755", b"#!/bin/sh\n")], []),
    "rename": ([Entry("moved.txt", "100644", BEFORE[3].data)], ["long.txt"]),
    "rename-and-edit": ([Entry("d/moved.txt", "100755", BEFORE[3].data + b"end")], ["long.txt"]),
    "odd-names": ([Entry(n, "100644", os.fsencode(n)) for n in ODD], []),
    "binary": ([Entry("x.bin", "100644", b"\0\r\n\xff" * 100), Entry("new.bin", "100644", bytes(range(256)))], []),
    "symlink": ([Entry("ln", "120000", b"../../etc/passwd"), Entry("run", "120000", b"crlf.txt")], []),
    "emptied": ([Entry("crlf.txt", "100644", b""), Entry("blank", "100644", b"")], []),
    "removed": ([], ["crlf.txt", "x.bin", "ident.c"]),
    "ident": ([Entry("ident.c", "100644", b"$Id: faked $\n")], []),
    "filtered": ([Entry("a.lfs", "100644", b"not a pointer\r\n")], []),
    "attributes": ([Entry(".gitattributes", "100644", b"* -diff filter=x\n"), Entry("long.txt", "100644", b"short\n")], []),
    "file-to-folder": ([Entry("run/in", "100644", b"x\n")], ["run"]),
    "whitespace": ([Entry("crlf.txt", "100644", b"trailing  \r\n\t \n\n\n")], []),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_patch_gives_back_the_very_bytes(tmp_path: Path, name: str) -> None:
    room = Room(tmp_path, BEFORE)
    value = changes.of(*CASES[name])
    patch = patches.of_changes(value, room.template, room.commit, cancel=room.cancel)
    assert patch.files >= 1
    assert not patch.truncated
    assert patches.to_changes(patch.data, room.template, room.commit, cancel=room.cancel) == value


def test_the_patch_applies_for_everybody(tmp_path: Path) -> None:
    """What a cell keeps is a plain git patch: `git apply` in a checkout gives the session's state."""
    room = Room(tmp_path, {"a.txt": "one\r\n", "b": "x\n"})
    value = changes.of([Entry("a.txt", "100644", b"two\r\n")], ["b"])
    patch = patches.of_changes(value, room.template, room.commit, cancel=room.cancel)
    room.agent(
        "import subprocess, sys\nsubprocess.run(['git', 'apply', '-'], input=sys.stdin.buffer.read(), check=True)",
        stdin=patch.data,
    )
    assert room.collect() == value


def test_churn_counts_files_and_lines(tmp_path: Path) -> None:
    room = Room(tmp_path, BEFORE)
    value = changes.of([Entry("crlf.txt", "100644", b"one\r\n2\r\n3\r\n"), Entry("n.bin", "100644", b"\0")], ["ident.c"])
    patch = patches.of_changes(value, room.template, room.commit, cancel=room.cancel)
    assert (patch.files, patch.insertions, patch.deletions) == (3, 2, 2)


def test_a_rename_is_no_churn_of_lines(tmp_path: Path) -> None:
    room = Room(tmp_path, BEFORE)
    patch = patches.of_changes(changes.of(*CASES["rename"]), room.template, room.commit, cancel=room.cancel)
    assert (patch.files, patch.insertions, patch.deletions) == (1, 0, 0)


def test_nothing_changed_is_an_empty_patch_without_a_sandbox(tmp_path: Path) -> None:
    room = Room(tmp_path, BEFORE)
    assert patches.of_changes(Changes(), room.template, room.commit, cancel=room.cancel) == patches.EMPTY


def test_a_patch_for_something_else_is_refused_by_name(tmp_path: Path) -> None:
    room = Room(tmp_path, {"a": "1\n"})
    patch = b"diff --git a/zz b/zz\n--- a/zz\n+++ b/zz\n@@ -1 +1 @@\n-x\n+y\n"
    with pytest.raises(StepFailed, match=r"does not apply.*zz"):
        patches.to_changes(patch, room.template, room.commit, cancel=room.cancel)


@pytest.mark.parametrize("path", ["../out", ".git/hooks/x", "a/../../x"])
def test_a_patch_that_leaves_the_tree_is_refused(tmp_path: Path, path: str) -> None:
    room = Room(tmp_path, {"a": "1\n"})
    patch = f"diff --git a/{path} b/{path}\nnew file mode 100755\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n".encode()
    with pytest.raises(StepFailed, match="does not apply"):
        patches.to_changes(patch, room.template, room.commit, cancel=room.cancel)
