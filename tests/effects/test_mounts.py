from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.effects import mounts, trees
from bench.effects.trees import Entry
from bench.errors import CorpusError, SourceError
from tests.effects.wheelmaking import write


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = write(tmp_path / "source", {"web/node_modules/tool/cli.js": b"#!/usr/bin/env node\n", "web/app.js": b""})
    (root / "web/node_modules/.bin").mkdir()
    (root / "web/node_modules/.bin/tool").symlink_to("../tool/cli.js")
    return root


def test_a_tree_is_read_with_its_inner_links(source: Path) -> None:
    found = mounts.read(source, "web/node_modules")
    assert [(entry.path, entry.mode) for entry in found] == [(".bin/tool", "120000"), ("tool/cli.js", "100644")]
    mounts.check(found, "node_modules")
    assert trees.entries_of(trees.pack(found)) == found


@pytest.mark.parametrize("name", ["..", "../x", "/etc", "", ".", "web/../.."])
def test_a_path_outside_the_source_is_refused(source: Path, name: str) -> None:
    with pytest.raises(CorpusError):
        mounts.read(source, name)


def test_what_is_absent_empty_or_a_file_is_refused_with_a_remedy(source: Path) -> None:
    (source / "empty").mkdir()
    for name in ("web/app.js", "nothing", "empty"):
        with pytest.raises(CorpusError, match="build or install it in the source first"):
            mounts.read(source, name)


@pytest.mark.parametrize("text", ["/etc/passwd", "../../app.js", "../../../..", "back/../../app.js", "loop"])
def test_a_link_that_leaves_the_tree_is_refused(source: Path, text: str) -> None:
    deep = source / "web/node_modules/deep"
    deep.mkdir()
    (deep / "back").symlink_to("..")
    (deep / "loop").symlink_to(text)
    with pytest.raises(SourceError, match="leads out of the tree") as refused:
        mounts.read(source, "web/node_modules")
    assert refused.value.where == "web/node_modules/deep/loop"


def test_a_tree_behind_a_link_is_refused(source: Path) -> None:
    (source / "linked").symlink_to("web/node_modules")
    with pytest.raises(CorpusError, match="symbolic link"):
        mounts.read(source, "linked")


def test_a_special_file_is_refused_and_blocks_nothing(source: Path) -> None:
    os.mkfifo(source / "web/node_modules/pipe")
    with pytest.raises(SourceError):
        mounts.read(source, "web/node_modules")


@pytest.mark.parametrize(
    "entry",
    [Entry("../x", "100644", b""), Entry("/x", "100644", b""), Entry("a//b", "100644", b""), Entry("l", "120000", b"/etc")],
)
def test_a_packed_tree_that_reading_could_not_give_is_refused(entry: Entry) -> None:
    with pytest.raises(SourceError):
        mounts.check([entry], "node_modules")
