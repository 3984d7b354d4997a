"""Git ids without git, and git without anybody's configuration."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.effects import git
from bench.effects.trees import Entry
from bench.errors import StepFailed

NAMES = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..") and not name.lower().startswith(".git")
)


def test_commit_of_a_known_tree_is_pinned():
    entries = [Entry("a/b", "100755", b"x"), Entry("a.c", "100644", b""), Entry("a0", "120000", b"a.c")]
    assert git.commit_of(entries) == "f0afb2c7e0b40631867f9157bdc5adfed6105bbe"


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(NAMES, st.tuples(st.sampled_from(["100644", "100755", "120000"]), st.binary(min_size=1, max_size=20)))
)
def test_commit_of_agrees_with_git(tmp_path_factory, files):
    entries = [Entry(f"{name}.d/{name}", mode, data) for name, (mode, data) in files.items()]
    entries += [Entry(name, mode, data) for name, (mode, data) in files.items()]
    names = {entry.path for entry in entries}
    entries = [e for e in entries if not any(other.startswith(e.path + "/") for other in names)]
    root = tmp_path_factory.mktemp("git")
    git.output(["init", "--quiet", "--bare", "--template=", "."], cwd=root)
    stream = b"".join(git.import_stream(entries, "refs/heads/x"))
    git.output(["fast-import", "--quiet", "--date-format=raw"], cwd=root, stdin=stream)
    assert git.output(["rev-parse", "refs/heads/x"], cwd=root).decode().strip() == git.commit_of(entries)


def test_the_users_configuration_is_not_in_force(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[core]\n\thooksPath = /tmp/evil\n[user]\n\tname = Somebody\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Somebody")
    listed = git.output(["config", "--list"], cwd=tmp_path).decode()
    assert "Somebody" not in listed
    assert "core.hookspath=/dev/null" in listed


def test_commands_run_through_no_strange_transport(tmp_path):
    done = git.run(["ls-remote", "--", f"ext::sh -c touch% {tmp_path}/run"], cwd=tmp_path)
    assert done.exit != 0
    assert not (tmp_path / "run").exists()


def test_a_failing_command_says_what_git_said(tmp_path):
    with pytest.raises(StepFailed, match="git rev-parse failed"):
        git.output(["rev-parse", "HEAD"], cwd=tmp_path)


def test_the_config_file_is_one_that_git_reads():
    path = git.environment()["GIT_CONFIG_GLOBAL"]
    done = subprocess.run(["git", "config", "-f", path, "--list"], check=True, capture_output=True, text=True)
    assert "safe.directory=*" in done.stdout
