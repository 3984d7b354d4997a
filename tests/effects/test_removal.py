"""Deleting what an agent left."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bench.effects.removal import remove_tree

SHAPES = st.recursive(st.sampled_from(["file", "link", "fifo"]), lambda inner: st.lists(inner, max_size=4), max_leaves=20)


def build(path: Path, shape: object) -> None:
    if shape == "file":
        path.write_text("x")
    elif shape == "link":
        path.symlink_to("/etc")
    elif shape == "fifo":
        os.mkfifo(path)
    else:
        assert isinstance(shape, list)
        path.mkdir()
        for index, inner in enumerate(shape):
            build(path / str(index), inner)
        path.chmod(0)


@given(SHAPES)
def test_any_tree_goes(tmp_path_factory, shape: object) -> None:
    home = tmp_path_factory.mktemp("trees")
    build(home / "tree", shape)
    remove_tree(home / "tree")
    assert list(home.iterdir()) == []


def test_depth_does_not_matter(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove_tree(tmp_path / "d")
    assert list(tmp_path.iterdir()) == []


def test_what_is_absent_is_no_fault(tmp_path: Path) -> None:
    remove_tree(tmp_path / "absent")
