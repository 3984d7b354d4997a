"""A private copy on the host: patched, without write bits, read back by content, and removed whatever was left in it."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from bench.effects import git, template, trees
from bench.effects.changes import Changes
from bench.effects.hosted import clone
from bench.effects.removal import remove_tree
from bench.errors import StepFailed
from tests.steps.making import context_at
from tests.steps.test_session import template_of

PATCH = b"--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-one\n+two\n"


@pytest.fixture
def lower(tmp_path: Path) -> Path:
    context = context_at(tmp_path)
    return template.materialise(context.store, template_of(context, {"src/a.py": b"one\n", "b": b"b\n"}))


@pytest.fixture
def copy(lower: Path, tmp_path: Path) -> Path:
    clone.lay(lower, tmp_path / "clone")
    return tmp_path / "clone"


def modes(root: Path) -> set[int]:
    found = [root, *root.rglob("*")]
    return {stat.S_IMODE(path.lstat().st_mode) & 0o222 for path in found if not path.is_symlink()}


def test_the_copy_is_the_template_and_takes_the_patch(copy: Path, lower: Path) -> None:
    kept = clone.repository(copy)
    assert kept
    assert clone.seen(copy, lower, kept) == Changes()
    assert clone.patch(copy, PATCH, 60, threading.Event()) is None
    (entry,) = clone.seen(copy, lower, kept).entries
    assert (entry.path, entry.data) == ("src/a.py", b"two\n")


def test_write_bits_go_and_come_back_for_the_reading(copy: Path, lower: Path) -> None:
    kept = clone.repository(copy)
    before = trees.read(copy)
    clone.freeze(copy)
    assert modes(copy) == {0}
    assert clone.seen(copy, lower, kept) == Changes()
    assert all(path.lstat().st_mode & 0o200 for path in copy.rglob("*"))
    assert trees.read(copy) == before


def test_everything_that_an_agent_changed_shows(copy: Path, lower: Path) -> None:
    kept = clone.repository(copy)
    clone.freeze(copy)
    clone.thaw(copy)
    (copy / "b").unlink()
    (copy / "link").symlink_to("/etc/passwd")
    (copy / "src" / "a.py").chmod(0o755)
    os.mkfifo(copy / "pipe")
    (copy / ".git" / "hooks").mkdir(exist_ok=True)
    (copy / ".git" / "hooks" / "pre-commit").write_text("x")
    (copy / ".git" / "index").write_bytes(b"git's own cache")
    found = clone.seen(copy, lower, kept)
    assert [(entry.path, entry.mode) for entry in found.entries] == [("link", "120000"), ("src/a.py", "100755")]
    assert found.deletions == ("b",)
    assert found.oddities == ((".git/hooks/pre-commit", "git-replaced"), ("pipe", "special"))


def test_reading_commands_of_git_change_nothing(copy: Path, lower: Path) -> None:
    kept = clone.repository(copy)
    for words in (["status"], ["diff"], ["log", "-1"]):
        subprocess.run(["git", *words], cwd=copy, check=True, capture_output=True, env=git.environment() | dict(os.environ))
    assert clone.seen(copy, lower, kept) == Changes()


def test_directories_without_write_bits_are_removed(copy: Path) -> None:
    # Public report: 0555 directories that an agent copied blocked the cleanup.
    (copy / "deep" / "er").mkdir(parents=True)
    (copy / "deep" / "er" / "x").write_text("x")
    for path in (copy / "deep" / "er", copy / "deep"):
        path.chmod(0o555)
    clone.freeze(copy)
    remove_tree(copy)
    assert not copy.exists()


def test_a_clone_that_is_a_link_now_is_not_followed(copy: Path, lower: Path) -> None:
    remove_tree(copy)
    copy.symlink_to(lower)
    with pytest.raises(StepFailed, match="replaced"):
        clone.seen(copy, lower, {})
