from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.effects import mounts, trees
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


def test_the_source_is_a_directory_or_a_repository_of_this_machine(source: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    write(workspace, {"corpus/repos/web/a": b"", "corpus/clone/.git/HEAD": b""})
    assert mounts.home({"dir": "repos/web"}, workspace) == workspace / "corpus/repos/web"
    assert mounts.home({"git": "clone", "ref": "main"}, workspace) == workspace / "corpus/clone"
    assert mounts.home({"git": str(source), "ref": "main"}, workspace) == source
    for other in ({"git": "https://nowhere.invalid/x.git", "ref": "main"}, {"sdist": "odds==1.0"}):
        with pytest.raises(CorpusError, match="on this machine"):
            mounts.home(other, workspace)


def test_the_fingerprint_follows_content_and_modes(source: Path, tmp_path: Path) -> None:
    def now() -> str:
        return mounts.fingerprint({"dir": str(source)}, tmp_path / "workspace", "web/node_modules")

    first = now()
    (source / "web/app.js").write_bytes(b"outside")
    assert now() == first
    (source / "web/node_modules/tool/cli.js").chmod(0o755)
    second = now()
    (source / "web/node_modules/tool/cli.js").write_bytes(b"")
    assert len({first, second, now()}) == 3
