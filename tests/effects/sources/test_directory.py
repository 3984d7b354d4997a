"""`dir` sources: working files as they are."""

import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest

from bench.effects import sources
from bench.errors import CorpusError, SourceError
from tests.effects.sources.repositories import commit, git, init


def fetch(root, spec):
    scratch = Path(tempfile.mkdtemp(dir=root, prefix="scratch-"))
    try:
        return sources.create("dir").fetch(spec, root, scratch, threading.Event())
    finally:
        shutil.rmtree(scratch)


def test_working_files_as_they_are_without_git(tmp_path):
    repo = init(tmp_path / "repo")
    commit(repo, {"a.txt": "committed", ".gitignore": "*.log\n"})
    (repo / "a.txt").write_bytes(b"edited\r\n")
    (repo / "ignored.log").write_text("kept: setup may need it")
    (repo / "new").mkdir()
    (repo / "new/run").write_text("x")
    (repo / "new/run").chmod(0o755)
    (repo / "new/link").symlink_to("./../a.txt")
    (repo / "__pycache__").mkdir()
    (repo / "__pycache__/x.pyc").write_text("made by whoever ran it")
    fetched = fetch(tmp_path, {"dir": str(repo)})
    assert [(e.path, e.mode, e.data) for e in fetched.entries] == [
        (".gitignore", "100644", b"*.log\n"),
        ("a.txt", "100644", b"edited\r\n"),
        ("ignored.log", "100644", b"kept: setup may need it"),
        ("new/link", "120000", b"./../a.txt"),
        ("new/run", "100755", b"x"),
    ]
    assert fetched.revision.startswith("b3:")
    assert sources.create("dir").resolve({"dir": str(repo)}, tmp_path) == {}


def test_relative_to_the_corpus_and_the_same_wherever_it_lies(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "corpus/repos/x").mkdir(parents=True)
        (tmp_path / name / "corpus/repos/x/f").write_text("1")
    one, two = (fetch(tmp_path / name, {"dir": "repos/x"}) for name in ("one", "two"))
    assert one == two


def test_special_files_are_refused_by_path(tmp_path):
    (tmp_path / "x/deep").mkdir(parents=True)
    os.mkfifo(tmp_path / "x/deep/odd")
    with pytest.raises(SourceError, match="deep/odd: a device, FIFO or socket"):
        fetch(tmp_path, {"dir": str(tmp_path / "x")})


def test_absent_directory_and_the_workspaces_own_folders_are_refused(tmp_path):
    for name in ("corpus", "oracles/t", "artifacts/store"):
        (tmp_path / name).mkdir(parents=True)
    for named in ("nowhere", "../oracles", "../oracles/t", "../artifacts/store", ".", "..", "../.."):
        with pytest.raises(CorpusError, match=r"source\.dir"):
            fetch(tmp_path, {"dir": named})


def test_materialised_submodules_are_pinned_and_absent_ones_refused(tmp_path):
    inner = init(tmp_path / "inner")
    commit(inner, {"lib.py": "1"})
    outer = init(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", str(inner), "vendor/lib")
    commit(outer, {"main.py": "1"})
    paths = [e.path for e in fetch(tmp_path, {"dir": str(outer)}).entries]
    assert paths == [".gitmodules", "main.py", "vendor/lib/lib.py"]
    git(tmp_path, "clone", "--quiet", str(outer), "clone")
    with pytest.raises(SourceError, match="vendor/lib: is a submodule whose files are not there"):
        fetch(tmp_path, {"dir": str(tmp_path / "clone")})
    git(outer, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    with pytest.raises(SourceError, match="vendor/lib: is a submodule whose files are not there"):
        fetch(tmp_path, {"dir": str(tmp_path / "tree")})
