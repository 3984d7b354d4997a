"""Incident: an agent found the solution in its clone and copied it (SWE-bench 465, mini-swe-agent 787, commit0 113).

A source is planted with the solution in every place where git keeps what is not checked out. None may reach a template.
"""

from pathlib import Path

import pytest

from bench.effects import git as git_effects
from tests.effects.sources.repositories import commit, git, init
from tests.steps.templates import expanded

SECRET = "the finished solution 7f3a"
PLACES = (
    "future commit",
    "packed refs",
    "tag",
    "stash",
    "reflog only",
    "notes",
    "alternates",
    "worktree",
    "submodule git dir",
    "remote branch",
    "replace ref",
    "index",
    "pseudo ref",
    "loose unreachable object",
)


def plant(repo: Path, place: str, tmp_path: Path) -> None:
    pinned = git(repo, "rev-parse", "HEAD")
    if place == "index":
        (repo / "staged.txt").write_text(SECRET)
        git(repo, "add", "staged.txt")
        (repo / "staged.txt").unlink()
        return
    if place == "loose unreachable object":
        git(repo, "hash-object", "-w", "--stdin", input=SECRET)
        return
    if place == "stash":
        (repo / "a.py").write_text(SECRET)
        git(repo, "stash", "push", "--quiet")
        return
    if place == "notes":
        git(repo, "notes", "add", "-m", SECRET)
        return
    if place == "alternates":
        other = init(tmp_path / "other")
        commit(other, {"solution.py": SECRET})
        (repo / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")
        return
    if place == "submodule git dir":
        inner = init(repo / ".git/modules/inner")
        commit(inner, {"solution.py": SECRET})
        return
    solution = commit(repo, {"solution.py": SECRET, "a.py": SECRET})
    git(repo, "reset", "--quiet", "--hard", pinned)
    if place == "packed refs":
        git(repo, "branch", "fix", solution)
        git(repo, "pack-refs", "--all")
        git(repo, "gc", "--quiet")
    refs = {"tag": "refs/tags/v2", "future commit": "refs/heads/fix", "remote branch": "refs/remotes/origin/fix"}
    if place in refs:
        git(repo, "update-ref", refs[place], solution)
    if place == "worktree":
        git(repo, "worktree", "add", "--quiet", "--detach", str(tmp_path / "elsewhere"), solution)
    if place == "replace ref":
        git(repo, "update-ref", f"refs/replace/{pinned}", solution)
    if place == "pseudo ref":
        git(repo, "update-ref", "ORIG_HEAD", solution)
        (repo / ".git/FETCH_HEAD").write_text(f"{solution}\t\tbranch 'fix' of elsewhere\n")


@pytest.mark.parametrize("kind", ["git", "dir"])
@pytest.mark.parametrize("place", PLACES)
def test_the_solution_is_nowhere_in_the_template(tmp_path, place, kind):
    repo = init(tmp_path / "corpus" / "repo")
    commit(repo, {"a.py": "older"})
    pinned = commit(repo, {"a.py": "the task"})
    plant(repo, place, tmp_path)
    root = expanded(tmp_path / "home", repo, pinned if kind == "git" else None)
    assert (root / "a.py").read_text() == "the task"
    assert sorted(p.name for p in root.iterdir()) == [".git", "a.py"]
    every = git(root, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    assert sorted(line.split()[1] for line in every) == ["blob", "commit", "tree"]
    assert not any(SECRET.encode() in path.read_bytes() for path in root.rglob("*") if path.is_file())
    assert git(root, "rev-list", "--all", "--reflog") == git(root, "rev-parse", "HEAD")
    assert git(root, "fsck", "--unreachable") == ""
    # neither the original history nor a name of this machine is left
    assert pinned not in (root / ".git/HEAD").read_text()
    assert not any(str(tmp_path).encode() in path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file())


def test_the_same_snapshot_out_of_different_histories_is_the_same_commit(tmp_path):
    one, two = init(tmp_path / "one"), init(tmp_path / "two")
    commit(one, {"a.py": "1"})
    tips = [commit(one, {"a.py": "2"}), commit(two, {"a.py": "2"}, "another message")]
    roots = [expanded(tmp_path / f"w{tip}", repo, tip) for repo, tip in zip((one, two), tips, strict=True)]
    heads = {git(root, "rev-parse", "HEAD") for root in roots}
    assert len(heads) == 1
    assert not heads & set(tips)


def test_objects_are_no_hard_links_to_the_source(tmp_path):
    repo = init(tmp_path / "corpus" / "repo")
    pinned = commit(repo, {"a.py": "x"})
    root = expanded(tmp_path / "home", repo, pinned)
    assert all(path.stat().st_nlink == 1 for path in root.rglob("*") if path.is_file())
    assert git_effects.run(["cat-file", "-e", pinned], cwd=root).exit != 0
