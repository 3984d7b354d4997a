"""The codeanalyzer indexer in its sandbox: what it is given to read, and what becomes of what it cannot read."""

import threading

import pytest

from bench.core import digest, pdg
from bench.effects.indexers import codeanalyzer
from bench.effects.sandbox import Finished
from bench.errors import StepFailed
from tests.effects.indexers.sources import write

HOSTILE = {
    "ok.py": "def fine():\n    return 1\n",
    "surrogate.py": 'def lone():\n    "doc \\ud800"\n    return lone()\n',
    "marked.py": b"\xef\xbb\xbfdef marked():\n    return 1\n",
    "latin.py": b"# -*- coding: latin-1 -*-\ndef latin():\n    return '\xe9'\n",
    "crlf.py": b"def crlf():\r\n    return 1\r\n",
    "broken.py": "def broken(:\n",
    "older.py": 'print "text"\n',
    "deep.py": "x = " + "a + " * 4000 + "a\n",
    "noise.py": bytes(range(128, 256)),
    "large.py": "def large():\n    return 1\n" + "# " + "x" * codeanalyzer.MAX_SOURCE_BYTES + "\n",
    "folder.py/inner.py": "def inner():\n    return 1\n",
    "tests/test_it.py": "def test_it():\n    pass\n",
    "build/lib/site-packages/lib.py": "def installed():\n    pass\n",
    "stub.pyi": "def stub() -> int: ...\n",
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile")
    tree = write(root / "tree", HOSTILE)
    (root / "scratch").mkdir()
    return codeanalyzer.CodeAnalyzer().index(tree, root / "scratch", seconds=300, cancel=threading.Event())


@pytest.mark.slow
def test_what_cannot_be_parsed_is_named_and_nothing_else(snapshot):
    assert snapshot.graph["unparsed"] == ["broken.py", "deep.py", "large.py", "noise.py", "older.py"]
    assert snapshot.reason is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fine", "lone", "marked", "latin", "crlf", "inner"])
def test_any_encoding_and_line_ending_is_read(snapshot, name):
    [found] = [n for n in pdg.load(snapshot.graph).definitions(name) if n.kind == "function"]
    assert found.line == (2 if name == "latin" else 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["test_it", "installed", "stub", "large"])
def test_tests_and_installed_packages_are_passed_over(snapshot, name):
    assert pdg.load(snapshot.graph).definitions(name) == ()


@pytest.mark.slow
def test_a_package_of_our_own_is_never_taken_for_the_sources(tmp_path):
    """A source below src/ that bears the name of one of the indexer's packages resolves to itself."""
    files = {
        "src/rich/__init__.py": "",
        "src/rich/text.py": "class Text:\n    def only_here(self):\n        return 1\n",
        "src/rich/use.py": "from rich.text import Text\n\n\ndef use():\n    return Text().only_here()\n",
        "app.py": "import yaml\n\n\ndef load(text):\n    return yaml.safe_load(text)\n",
    }
    (tmp_path / "scratch").mkdir()
    tree = write(tmp_path / "tree", files)
    found = codeanalyzer.CodeAnalyzer().index(tree, tmp_path / "scratch", seconds=300, cancel=threading.Event())
    graph = pdg.load(found.graph)
    [method] = graph.definitions("Text.only_here")
    [use] = [n for n in graph.definitions("use") if n.kind == "function"]
    assert method.path == "src/rich/text.py"
    assert method in graph.callees(use.id)
    assert not [n for n in graph.nodes if "site-packages" in n or "/opt" in n]


def test_only_tests_is_nothing_to_index(tmp_path):
    tree = write(tmp_path / "tree", {"tests/helper.py": "x = 1\n", "test_a.py": "", "a_test.py": "", ".venv/b.py": ""})
    (tmp_path / "scratch").mkdir()
    found = codeanalyzer.CodeAnalyzer().index(tree, tmp_path / "scratch", seconds=1, cancel=threading.Event())
    assert found.graph == {"schema": 1, "language": "python", "nodes": [], "edges": [], "unparsed": []}
    assert found.reason == "no Python file outside tests and installed packages"


def test_nothing_but_broken_files_is_an_empty_graph_with_its_reason(tmp_path):
    tree = write(tmp_path / "tree", {"a.py": "def (\n", "b.py": "def (\n"})
    (tmp_path / "scratch").mkdir()
    found = codeanalyzer.CodeAnalyzer().index(tree, tmp_path / "scratch", seconds=300, cancel=threading.Event())
    assert found.graph["nodes"] == []
    assert found.graph["unparsed"] == ["a.py", "b.py"]
    assert found.reason == "none of the 2 Python files could be parsed"


def test_a_name_that_is_no_text_is_named_by_its_bytes(tmp_path):
    tree = write(tmp_path / "tree", {"a.py": "x = 1\n"})
    with open(bytes(tree) + b"/\xff.py", "wb") as out:
        out.write(b"y = 1\n")
    (tmp_path / "scratch").mkdir()
    found = codeanalyzer.CodeAnalyzer().index(tree, tmp_path / "scratch", seconds=300, cancel=threading.Event())
    assert found.graph["unparsed"] == ["\\xff.py"]
    digest.canonical(found.graph)


def test_another_schema_is_refused(tmp_path):
    (tmp_path / "analysis.json").write_text('{"schema_version": "3.0.0", "max_level": 3}')
    with pytest.raises(StepFailed, match=r"schema '3\.0\.0'"):
        codeanalyzer.read(Finished(0, None, b"", b"", b"", 1.0), tmp_path / "analysis.json")


def test_the_identity_names_what_reads_the_source():
    identity = codeanalyzer.CodeAnalyzer().identity()
    assert {"codeanalyzer-python", "jedi", "parso", "networkx", "python"} <= set(identity)
    assert not {"ray", "requests", "uv"} & set(identity)


def test_the_source_shown_is_python_alone():
    assert codeanalyzer.passed_over("a/tests/b.py")
    assert codeanalyzer.passed_over("test/b.py")
    assert codeanalyzer.passed_over("a/b_test.py")
    assert not codeanalyzer.passed_over("latest/testing.py")
