"""What a source may hold, one refusal each, named by path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects.sources import rules
from bench.effects.trees import Entry
from bench.errors import SourceError


def file(path, data=b"x"):
    return Entry(path, "100644", data)


def link(path, target):
    return Entry(path, "120000", target)


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"

REFUSED = {
    "absolute link": ([link("a/b", b"/etc/passwd")], "a/b"),
    "link above the root": ([link("a/b", b"../../x")], "a/b"),
    "link through a link": ([link("a/up", b".."), link("b", b"a/up/../x")], "b"),
    "link by way of an absolute one": ([link("a", b"b/c"), link("b", b"/tmp")], "a"),
    "link above and back": ([link("a", b"../tree/a.txt")], "a"),
    "link into .git": ([link("a", b".git/config")], "a"),
    "link to nothing": ([link("a", b"")], "a"),
    "link not UTF-8": ([link("a", b"\xff")], "a"),
    "name not UTF-8": ([file("a/\udcff")], "a/\\xff"),
    "parent in path": ([file("a/../b")], "a/../b"),
    "absolute path": ([file("/a")], "/a"),
    "empty component": ([file("a//b")], "a//b"),
    "dot component": ([file("./a")], "./a"),
    "case clash": ([file("src/Readme"), file("src/README")], "src/README"),
    "case clash of folders": ([file("Docs/a"), file("docs/b")], "docs"),
    "case clash that only folds": ([file("straße"), file("STRASSE")], "STRASSE"),
    "Unicode forms": ([file("caf\u00e9"), file("cafe\u0301")], "cafe\u0301"),
    "file and folder": ([file("a"), file("a/b")], "a"),
    "file twice": ([file("a"), file("a")], "a"),
    "long name": ([file("n" * 256)], "n" * 256),
    "long path": ([file("/".join(["n" * 200] * 21))], "n" * 200),
    "LFS pointer": ([file("model.bin", POINTER)], "model.bin"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_path(case):
    entries, where = REFUSED[case]
    with pytest.raises(SourceError) as caught:
        rules.check(entries)
    assert caught.value.where.startswith(where)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "entries",
    [
        [file("a b\n\"'\\"), file("ü/é")],
        [file("cafe\u0301")],
        [link("a/b", b"../c/./d"), file("c/d")],
        [link("loop", b"loop")],
        [link("x", b"y/../z"), link("y", b"deep/down"), file("deep/down/f"), file("deep/z")],
        [link("dangling", b"nowhere")],
        [link("dots", b"...")],
        [file("docs.md", b"An LFS pointer starts with version https://git-lfs.github.com/spec/v1\noid ...")],
        [file("ok", b"version https://git-lfs.github.com/spec/v1 is a line")],
    ],
)
def test_ordinary_trees_pass(entries):
    rules.check(entries)


def test_size():
    rules.check_size(rules.MAX_ENTRIES, rules.MAX_BYTES)
    for count, total in ((rules.MAX_ENTRIES + 1, 0), (0, rules.MAX_BYTES + 1)):
        with pytest.raises(SourceError, match="larger"):
            rules.check_size(count, total)


@given(st.lists(st.sampled_from(["..", ".", "a", "b", ""]), min_size=1, max_size=8), st.integers(0, 3))
def test_a_single_link_leaves_exactly_when_the_dots_say_so(parts, depth):
    target = "/".join(parts)
    level, leaves = depth, target.startswith("/")
    for part in parts:
        level += {"..": -1, ".": 0, "": 0}.get(part, 1)
        leaves = leaves or level < 0
    entries = [link("/".join(["d"] * depth + ["l"]), target.encode())]
    if not target or leaves:
        with pytest.raises(SourceError):
            rules.check(entries)
    else:
        rules.check(entries)


@given(st.text(st.characters(blacklist_categories=["Cs"])))
def test_shown_is_one_line(text):
    assert rules.shown(text).isprintable()
