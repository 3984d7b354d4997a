"""Incident: half a checkout was taken for a project (minishell 322, Nix PR 5295).

LFS pointers without git-lfs, submodules never fetched, a smudge filter that is missing, autocrlf: a template holds exactly
the committed bytes, or the source is refused early by the path that is wrong.
"""

import pytest

from bench.errors import SourceError
from tests.effects.sources.repositories import commit, git, init
from tests.steps.templates import expanded

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "ab" * 32 + "\nsize 12345\n"


def made(tmp_path, repo, tip, kind):
    return expanded(tmp_path / f"home-{kind}", repo, tip if kind == "git" else None)


@pytest.mark.parametrize("kind", ["git", "dir"])
def test_an_lfs_pointer_is_refused_by_path(tmp_path, kind):
    repo = init(tmp_path / "repo")
    files = {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "deep/model.bin": POINTER, "a.py": "1"}
    tip = commit(repo, files)
    with pytest.raises(SourceError, match=r"deep/model\.bin: is a Git LFS pointer") as caught:
        made(tmp_path, repo, tip, kind)
    assert "git lfs pull" in str(caught.value)


def test_real_files_under_lfs_are_pinned_as_they_are_on_disk(tmp_path):
    repo = init(tmp_path / "repo")
    tip = commit(repo, {".gitattributes": "*.bin filter=lfs\n", "model.bin": b"\0real bytes"})
    root = made(tmp_path, repo, tip, "dir")
    assert (root / "model.bin").read_bytes() == b"\0real bytes"
    assert git(root, "status", "--porcelain") == ""


def test_a_submodule_is_refused_by_path_or_pinned_as_materialised(tmp_path):
    inner = init(tmp_path / "inner")
    commit(inner, {"lib.py": "1"})
    repo = init(tmp_path / "repo")
    git(repo, "submodule", "--quiet", "add", str(inner), "vendor/lib")
    tip = commit(repo, {"a.py": "1"})
    with pytest.raises(SourceError, match="vendor/lib: is a submodule"):
        made(tmp_path, repo, tip, "git")
    root = made(tmp_path, repo, tip, "dir")
    assert (root / "vendor/lib/lib.py").read_text() == "1"
    assert not (root / "vendor/lib/.git").exists()
    assert git(root, "ls-files", "-s", "vendor").startswith("100644")


def test_a_filter_that_is_missing_or_hostile_changes_no_byte_and_runs_nothing(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    witness = tmp_path / "ran"
    (home / ".gitconfig").write_text(
        f'[filter "evil"]\n\tsmudge = touch {witness}\n\tclean = touch {witness}\n\trequired = true\n'
        "[core]\n\tautocrlf = true\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    repo = init(tmp_path / "repo")
    attributes = "*.f filter=evil\n*.m filter=nowhere\n*.t text eol=crlf ident working-tree-encoding=UTF-16\n"
    files = {".gitattributes": attributes, "x.f": "$Id$\n", "x.m": "lf\ncrlf\r\n", "x.t": "plain", "x.bin": b"\r\n\0\n"}
    for path, data in files.items():
        (repo / path).write_bytes(data if isinstance(data, bytes) else data.encode())
    (repo / ".git/info/attributes").write_text("* -text -filter -ident -working-tree-encoding\n")
    tip = commit(repo, {})
    for name in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change"):
        (repo / f".git/hooks/{name}").parent.mkdir(exist_ok=True)
        (repo / f".git/hooks/{name}").write_text(f"#!/bin/sh\ntouch {witness}\n")
        (repo / f".git/hooks/{name}").chmod(0o755)
    with open(repo / ".git/config", "a") as config:
        config.write(f'[core]\n\tfsmonitor = "touch {witness}"\n[uploadpack]\n\tpackObjectsHook = "touch {witness};"\n')
    for kind in ("git", "dir"):
        root = made(tmp_path, repo, tip, kind)
        for path, data in files.items():
            assert (root / path).read_bytes() == (data if isinstance(data, bytes) else data.encode())
        assert git(root, "status", "--porcelain") == ""
        # what an agent's git sees when it has to read every file again
        (root / ".git/index").unlink()
        git(root, "read-tree", "HEAD")
        assert git(root, "status", "--porcelain") == ""
    assert not witness.exists()


def test_a_torn_repository_gives_no_template(tmp_path):
    repo = init(tmp_path / "repo")
    tip = commit(repo, {"a.py": "1", "b.py": "2"})
    blob = git(repo, "rev-parse", "HEAD:b.py")
    (repo / f".git/objects/{blob[:2]}/{blob[2:]}").unlink()
    with pytest.raises(SourceError):
        made(tmp_path, repo, tip, "git")
