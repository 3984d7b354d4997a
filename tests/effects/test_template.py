"""Templates: what is taken out, what is refused, and the repository that an agent sees."""

import os
import subprocess

import pytest

from bench.core import records
from bench.core.records import Record
from bench.effects import git, sandbox, template, trees
from bench.effects.sandbox import runner
from bench.effects.store import open_store
from bench.effects.trees import Entry
from bench.errors import IntegrityError, SourceError, StepFailed

FILES = [
    Entry("README.md", "100644", b"hello\r\nworld"),
    Entry("bin/run", "100755", b"#!/bin/sh\n"),
    Entry("bin.txt", "100644", b""),
    Entry("src/link", "120000", b"../README.md"),
    Entry('src/odd "name"\n\\ü', "100644", b"\0\1\2"),
    Entry(".gitattributes", "100644", b"* text eol=crlf\n*.bin filter=lfs\n"),
    Entry(".gitignore", "100644", b"*.txt\n"),
    Entry("data.bin", "100644", b"\xff\r\n"),
]


def nothing(paths):
    return {}


def record_of(store, entries, commit=None):
    outputs = {"tree": store.put(trees.pack(entries))}
    return records.sealed(
        Record("template", "t", "k", {}, {}, "final", None, outputs, {"commit": commit or git.commit_of(entries)})
    )


def seen(root, *arguments):
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def test_materialised_template_is_one_clean_parentless_commit(tmp_path):
    store = open_store(tmp_path)
    root = template.materialise(store, record_of(store, FILES))
    commit = git.commit_of(FILES)
    assert seen(root, "rev-list", "--all", "--parents") == commit
    assert seen(root, "log", "-1", "--format=%an %ae %at %cn %ce %ct") == (
        "Assay assay@invalid 946684800 Assay assay@invalid 946684800"
    )
    assert seen(root, "fsck", "--unreachable") == ""
    assert seen(root, "status", "--porcelain", "--ignored") == ""
    assert seen(root, "for-each-ref") == seen(root, "remote") == seen(root, "stash", "list") == ""
    assert sorted(p.name for p in (root / ".git").iterdir()) == ["HEAD", "config", "index", "info", "objects", "refs"]
    assert trees.read(root, skip=lambda path: path == ".git") == trees.entries_of(trees.pack(FILES))


def test_status_stays_clean_when_every_stat_differs(tmp_path):
    """Through an overlay and a user namespace owner, inode and ctime are others; git must not read every file again."""
    store = open_store(tmp_path / "store")
    root = template.materialise(store, record_of(store, FILES))
    trees.copy(root, tmp_path / "copy")
    assert seen(tmp_path / "copy", "diff-files", "--name-only") == ""
    assert seen(tmp_path / "copy", "status", "--porcelain") == ""
    (tmp_path / "copy/README.md").write_bytes(b"hello\nworld!")
    assert seen(tmp_path / "copy", "status", "--porcelain") == "M README.md"


def test_expanded_once_and_alike_everywhere(tmp_path):
    one, two = open_store(tmp_path / "one"), open_store(tmp_path / "two")
    old = os.umask(0o077)
    try:
        first = template.materialise(one, record_of(one, FILES))
    finally:
        os.umask(old)
    second = template.materialise(two, record_of(two, FILES))
    assert template.materialise(one, record_of(one, FILES)) == first
    assert {p.name for p in (tmp_path / "one/trees").iterdir()} == {first.name}

    def facts(root):
        found = {}
        for path in sorted(root.rglob("*")):
            if ".git" not in path.relative_to(root).parts:
                stat = path.lstat()
                time = None if path.is_dir() else stat.st_mtime
                found[path.relative_to(root)] = (stat.st_mode, time)
        return found

    assert facts(first) == facts(second)
    assert facts(first)[(first / "src").relative_to(first)][0] & 0o777 == 0o755


def test_a_record_with_another_commit_is_an_integrity_error(tmp_path):
    store = open_store(tmp_path)
    with pytest.raises(IntegrityError, match="not 0123"):
        template.materialise(store, record_of(store, FILES, commit="0123" * 10))
    assert list((tmp_path / "trees").iterdir()) == []
    root = template.materialise(store, record_of(store, FILES))
    (root / ".git/HEAD").write_text("ref: refs/heads/other\n")
    with pytest.raises(IntegrityError, match="delete that folder"):
        template.materialise(store, record_of(store, FILES))


@pytest.mark.parametrize(
    "plant",
    [
        lambda root: (root / ".git/logs").mkdir(),
        lambda root: (root / ".git/FETCH_HEAD").write_text(""),
        lambda root: (
            (root / ".git/objects/info").mkdir(exist_ok=True) or (root / ".git/objects/info/alternates").write_text("/tmp\n")
        ),
        lambda root: seen(root, "tag", "leak"),
        lambda root: seen(root, "remote", "add", "origin", "/tmp"),
        lambda root: subprocess.run(
            ["git", "hash-object", "-w", "--stdin"], cwd=root, input=b"x", check=True, capture_output=True
        ),
        lambda root: (root / "extra").write_text("x"),
        lambda root: seen(root, "update-ref", "refs/notes/commits", "HEAD"),
    ],
    ids=["logs", "pseudo-ref", "alternates", "tag", "remote", "unreachable", "untracked", "notes"],
)
def test_proof_fails_on_anything_else(tmp_path, plant):
    store = open_store(tmp_path)
    root = template.materialise(store, record_of(store, FILES))
    plant(root)
    with pytest.raises(StepFailed):
        template.prove(root, git.commit_of(FILES))


def test_sanitise_takes_out_and_names_what_an_agent_may_not_see():
    entries = [
        Entry("a.py", "100644", b"1"),
        Entry("sub/.git/config", "100644", b"[core]"),
        Entry("vendored/.git", "100644", b"gitdir: ../x"),
        Entry("pkg/.gitnexus/index.bin", "100644", b"2"),
        Entry(".codeanalyzer/cache/x", "100644", b"3"),
        Entry("pkg/.gitnexusignore", "100755", b"secret.py\n"),
        Entry("x/oracles/t/test_hidden.py", "100644", b"4"),
        Entry("pkg/__pycache__/a.cpython-311.pyc", "100644", b"5"),
    ]
    clean = template.sanitise(entries, lambda paths: {p: "x/oracles/" for p in paths if p.startswith("x/")})
    assert clean.entries == [entries[0], Entry("pkg/.gitnexusignore", "100644", b"")]
    indexes = [".codeanalyzer/", "pkg/.gitnexus/", "pkg/__pycache__/"]
    assert clean.removed == [*indexes, "sub/.git/", "vendored/.git", "x/oracles/"]
    assert clean.neutralised == ["pkg/.gitnexusignore"]


def test_nothing_left_is_refused():
    with pytest.raises(SourceError, match="no files"):
        template.sanitise([Entry(".git/HEAD", "100644", b"x")], nothing)


@pytest.mark.parametrize("backing", sandbox.BACKINGS)
def test_in_a_sandbox_git_sees_it_clean_without_reading_the_files(tmp_path, backing):
    store = open_store(tmp_path / "store")
    root = template.materialise(store, record_of(store, FILES))
    workspace = sandbox.Workspace(root, tmp_path / "upper", backing=backing)
    runner.prepare(workspace)
    try:
        # diff-files looks at the index and at stat alone: any entry in need of a closer look is printed (a copy's links are)
        steps = ["git diff-files README.md bin data.bin", "git status --porcelain --ignored", "git rev-list --all"]
        script = "; ".join([*steps, "touch x", "git add x", "git commit -qm x"])
        done = runner.run(sandbox.Spec(("/bin/sh", "-ec", script), workspace=workspace))
        assert (done.exit, done.stdout.decode(), done.stderr) == (0, git.commit_of(FILES) + "\n", b"")
    finally:
        runner.discard(workspace)
    template.prove(root, git.commit_of(FILES))
