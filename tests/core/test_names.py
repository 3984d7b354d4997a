import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core import names
from bench.errors import CorpusError

GOOD = [
    "a",
    "parse-duration",
    "x" * 128,
    "é" * 64,
    "☃",
    "with space",
    "quo'te\"s",
    "a.b",
    ".hidden",
    "1",
    "a,b",
    "日本",
    "a:b",
]
BAD = ["", " ", "x" * 129, "é" * 65, "a/b", "a=b", "a*", "a?", "a[0]", "a\\b", "a\nb", "a\0b", "a\x7fb", "a\x9fb", ".", ".."]
BAD += ["-x", " a", "a ", "e\u0301", "a\u202eb", "a\u200bb", "a\u2028b", "\ud800"]


@pytest.mark.parametrize("name", GOOD)
def test_a_good_name_comes_back(name):
    assert names.check(name, "here") == name


@pytest.mark.parametrize("name", BAD)
def test_a_bad_name_is_refused_in_one_printable_line(name):
    with pytest.raises(CorpusError) as caught:
        names.check(name, "corpus/x.yaml:3:5")
    text = str(caught.value)
    assert text.startswith("corpus/x.yaml:3:5: the name ")
    assert "\n" not in text
    text.encode()


@settings(deadline=None)
@given(st.text())
def test_any_text_is_either_a_name_or_refused(text):
    fault = names.name_fault(text)
    assert fault is None or fault.split()[0] in ("is", "contains", "starts")


def test_equal_names_and_names_that_differ_in_case_alone_clash():
    with pytest.raises(CorpusError, match="used twice"):
        names.distinct([("a", "1"), ("b", "2"), ("a", "3")])
    with pytest.raises(CorpusError, match=r"3: the name 'STRASSE' differs from 'straße' in case alone \(first at 1\)"):
        names.distinct([("straße", "1"), ("b", "2"), ("STRASSE", "3")])
    names.distinct([("a", "1"), ("b", "2")])


@pytest.mark.parametrize("path", ["a", "a/b.py", "src/é", ".github/x", "a b", "x" * 240])
def test_a_good_path_comes_back(path):
    assert names.check_path(path, "here") == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a",
        "a/../b",
        "..",
        "./a",
        "a//b",
        "a/",
        "a\\b",
        "a\0b",
        "a\nb",
        ".git/config",
        "a/.GIT/x",
        "x" * 241,
        "é" * 121,
        "~/a",
        "C:/a",
        "-rf",
        ".",
    ],
)
def test_a_bad_path_is_refused(path):
    with pytest.raises(CorpusError, match="the path"):
        names.check_path(path, "here")


def test_the_root_is_a_path_only_where_it_may_be():
    assert names.check_path(".", "here", root=True) == "."
