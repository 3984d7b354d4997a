"""`git` sources: exactly one commit's bytes, whatever configuration, attributes and refs surround it."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench.effects import sources
from bench.effects.sources import gitrepo
from bench.errors import CorpusError, SourceError
from tests.effects.sources.repositories import commit, git, init


def fetch(tmp_path, spec):
    scratch = tmp_path / f"scratch{len(list(tmp_path.iterdir()))}"
    scratch.mkdir()
    return sources.create("git").fetch(spec, tmp_path, scratch, threading.Event())


def resolve(tmp_path, spec):
    return sources.create("git").resolve(spec, tmp_path)["commit"]


def contents(fetched):
    return {entry.path: (entry.mode, entry.data) for entry in fetched.entries}


def test_fetch_gives_the_pinned_commit_not_the_newest(tmp_path):
    repo = init(tmp_path / "repo")
    first = commit(repo, {"a.txt": "one", "sub/run.sh": "#!/bin/sh\n"})
    (repo / "sub/run.sh").chmod(0o755)
    (repo / "link").symlink_to("a.txt")
    second = commit(repo, {"a.txt": "two"})
    old = fetch(tmp_path, {"git": str(repo), "commit": first})
    new = fetch(tmp_path, {"git": str(repo), "commit": second.upper()})
    assert contents(old) == {"a.txt": ("100644", b"one"), "sub/run.sh": ("100644", b"#!/bin/sh\n")}
    assert contents(new) == {
        "a.txt": ("100644", b"two"),
        "link": ("120000", b"a.txt"),
        "sub/run.sh": ("100755", b"#!/bin/sh\n"),
    }
    assert (old.revision, new.revision) == (first, second)


def test_a_commit_that_no_ref_names_any_more_is_still_found(tmp_path):
    repo = init(tmp_path / "repo")
    commit(repo, {"a": "1"})
    lost = commit(repo, {"a": "2"})
    git(repo, "reset", "--quiet", "--hard", "HEAD~1")
    assert contents(fetch(tmp_path, {"git": str(repo), "commit": lost}))["a"][1] == b"2"


def test_bare_repositories_worktrees_shallow_clones_and_relative_paths(tmp_path):
    repo = init(tmp_path / "corpus" / "repo")
    commit(repo, {"a": "0"})
    tip = commit(repo, {"a": "1"})
    git(tmp_path, "clone", "--quiet", "--bare", str(repo), "bare.git")
    git(repo, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repo}", "shallow")
    for where in ("repo", str(tmp_path / "bare.git"), str(tmp_path / "tree"), str(tmp_path / "shallow"), f"file://{repo}"):
        assert contents(fetch(tmp_path, {"git": where, "commit": tip})) == {"a": ("100644", b"1")}


def test_an_absent_commit_and_an_unreadable_repository_are_named(tmp_path):
    repo = init(tmp_path / "repo")
    commit(repo, {"a": "1"})
    with pytest.raises(SourceError, match="commit 0123"):
        fetch(tmp_path, {"git": str(repo), "commit": "0123" * 10})
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="cannot be fetched"):
        fetch(tmp_path, {"git": str(tmp_path / "empty"), "commit": "0123" * 10})
    with pytest.raises(CorpusError, match="neither a directory nor an address"):
        fetch(tmp_path, {"git": "ext::sh -c evil", "commit": "0123" * 10})
    with pytest.raises(CorpusError, match="no commit is pinned"):
        fetch(tmp_path, {"git": str(repo)})


def test_a_blob_is_not_a_commit(tmp_path):
    repo = init(tmp_path / "repo")
    commit(repo, {"a": "1"})
    blob = git(repo, "rev-parse", "HEAD:a")
    with pytest.raises(SourceError):
        fetch(tmp_path, {"git": str(repo), "commit": blob})


def test_resolve_branch_tag_remote_branch_and_commit(tmp_path):
    repo = init(tmp_path / "repo")
    first = commit(repo, {"a": "1"})
    git(repo, "tag", "--annotate", "-m", "m", "v1")
    git(repo, "branch", "feature/x")
    second = commit(repo, {"a": "2"})
    git(tmp_path, "clone", "--quiet", str(repo), "clone")
    at = {"git": str(repo)}
    assert resolve(tmp_path, at) == second
    assert resolve(tmp_path, at | {"ref": "main"}) == second
    assert resolve(tmp_path, at | {"ref": "v1"}) == first
    assert resolve(tmp_path, at | {"ref": "refs/tags/v1"}) == first
    assert resolve(tmp_path, at | {"ref": "feature/x"}) == first
    assert resolve(tmp_path, {"git": str(tmp_path / "clone"), "ref": "feature/x"}) == first
    assert resolve(tmp_path, at | {"ref": first.upper()}) == first


def test_resolve_refuses_what_is_absent_or_ambiguous(tmp_path):
    repo = init(tmp_path / "repo")
    commit(repo, {"a": "1"})
    git(repo, "tag", "same")
    commit(repo, {"a": "2"})
    git(repo, "branch", "same")
    with pytest.raises(CorpusError, match="both a tag and a branch"):
        resolve(tmp_path, {"git": str(repo), "ref": "same"})
    for ref in ("nope", "--upload-pack=touch x", "main~1"):
        with pytest.raises(CorpusError, match="no branch or tag"):
            resolve(tmp_path, {"git": str(repo), "ref": ref})


def test_a_password_in_an_address_is_never_shown():
    spec = {"git": "https://user:secret@example.invalid/x.git"}
    assert gitrepo.shown(spec) == "source.git: https://example.invalid/x.git"


def test_no_password_in_the_error_of_a_failing_fetch(tmp_path):
    spec = {"git": "http://user:secret@127.0.0.1:1/x.git", "commit": "0123" * 10}
    with pytest.raises(SourceError) as caught:
        fetch(tmp_path, spec)
    assert "secret" not in str(caught.value)
    assert "user" not in str(caught.value)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def test_a_server_that_gives_no_single_commits_is_asked_for_all_refs(tmp_path, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    repo = init(tmp_path / "repo")
    first = commit(repo, {"a": "1"})
    commit(repo, {"a": "2"})
    git(tmp_path, "clone", "--quiet", "--bare", str(repo), "served/x.git")
    git(tmp_path / "served/x.git", "update-server-info")
    handler = functools.partial(_Quiet, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            spec = {"git": f"http://127.0.0.1:{server.server_port}/x.git", "ref": "main~1", "commit": first}
            assert contents(fetch(tmp_path, spec)) == {"a": ("100644", b"1")}
            assert resolve(tmp_path, spec | {"ref": "main"}) == git(repo, "rev-parse", "main")
        finally:
            server.shutdown()
            thread.join()
