from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import relpath
from bench.errors import CorpusError


@pytest.mark.parametrize("path", ["a", "a/b.md", "..a", "a..b/c", ".github/x", "é/ü", "a b", "x" * 240])
def test_ordinary_paths_pass(path: str) -> None:
    assert relpath.fault(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a",
        "..",
        "a/../b",
        "./a",
        "a//b",
        "a/",
        "a\\b",
        "a\0b",
        "a\nb",
        ".git",
        "a/.git/config",
        "A/.GIT",
        "x" * 241,
        "é" * 121,
        "\ud800",
    ],
)
def test_other_paths_are_faulted(path: str) -> None:
    assert relpath.fault(path) is not None


@given(st.text(max_size=40))
def test_a_path_that_passes_stays_below_its_root(path: str) -> None:
    if relpath.fault(path) is None:
        assert not path.startswith("/")
        assert not {"", ".", ".."} & set(path.split("/"))


@pytest.mark.parametrize("pair", [["a", "A"], ["a/b", "a"], ["A/b/c", "a/B"], ["a", "a"]])
def test_paths_that_cannot_stand_together(pair: list[str]) -> None:
    assert relpath.clash([*pair, "z"]) is not None


def test_paths_that_can() -> None:
    assert relpath.clash(["a/b", "a/c", "ab", "a.b/c"]) is None


def test_trees_are_bounded_in_files_bytes_and_bytes_of_one_file() -> None:
    files = {"a": b"12", "b": b"3"}
    relpath.check_sizes(files, "x", total=3, count=2, each=2)
    relpath.check_sizes(files, "x", total=3)
    for limits, why in (
        ({"total": 2}, "together"),
        ({"total": 3, "count": 1}, "2 files"),
        ({"total": 3, "each": 1}, "a holds 2"),
    ):
        with pytest.raises(CorpusError, match=why):
            relpath.check_sizes(files, "x", **limits)


@pytest.mark.parametrize("paths", [["a", "A"], ["../a"], ["x" * 513]])
def test_trees_with_odd_paths_are_refused(paths: list[str]) -> None:
    with pytest.raises(CorpusError, match=r"^x: (the path|two paths clash)"):
        relpath.check_paths(paths, "x", 512)
