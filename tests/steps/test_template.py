"""The template step over every kind of source."""

import threading

import pytest

from bench.core import digest
from bench.effects import template
from bench.effects.context import Context, Job
from bench.effects.store import open_store
from bench.errors import SourceError
from bench.steps import template as step
from tests.effects.indexserver import sdist, serve, sha256
from tests.effects.sources.repositories import commit, init

MARKERS = ["corpus/demo.yaml", "oracles/task/test_hidden.py"]


def make(root, keyed, spec, markers=MARKERS):
    scratch = root / "scratch" / digest.of("x", [keyed, spec])[3:]
    scratch.mkdir(parents=True)
    store = open_store(root / "artifacts/store")
    lines = []
    job = Job("template", "t", "k", {"source": keyed, "markers": markers}, {}, {}, {"source": spec})
    made = step.make(job, Context(store, root, scratch, threading.Event(), lines.append))
    digest.canonical([dict(made.body), lines])
    return made, store


FILES = {"setup.py": "1\n", "src/a.py": "2\n", "eval/corpus/demo.yaml": "3\n", "eval/oracles/task/test_hidden.py": "4\n"}


def test_the_same_files_give_the_same_template_whatever_the_source(tmp_path, monkeypatch):
    repo = init(tmp_path / "corpus/repo")
    tip = commit(repo, FILES)
    archive = sdist("demo-1", {path: text.encode() for path, text in FILES.items()})
    with serve() as index:
        index.files["demo"] = {"demo-1.tar.gz": archive}
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
        made = [
            make(tmp_path, {"kind": "git", "commit": tip}, {"git": "repo", "ref": "main", "commit": tip}),
            make(tmp_path, {"kind": "dir"}, {"dir": "repo"}),
            make(tmp_path, {"kind": "sdist", "sha256": sha256(archive)}, {"sdist": "demo==1", "sha256": sha256(archive)}),
        ]
    revisions = [m.body["revision"] for m, _ in made]
    assert revisions[0] == tip
    assert revisions[2] == sha256(archive)
    bodies = [{k: v for k, v in m.body.items() if k != "revision"} for m, _ in made]
    assert bodies[0] == bodies[1] == bodies[2]
    assert {m.outputs["tree"] for m, _ in made} == {made[0][0].outputs["tree"]}
    body, store = bodies[0], made[0][1]
    assert body["files"] == 2
    assert body["bytes"] == 4
    assert body["removed"] == ["eval/corpus/", "eval/oracles/"]
    root = template.expand(store, made[0][0].outputs["tree"].blob, body["commit"])
    assert sorted(p.name for p in root.iterdir()) == [".git", "setup.py", "src"]


def test_a_source_that_is_not_the_keyed_one_is_refused(tmp_path):
    (tmp_path / "corpus/x").mkdir(parents=True)
    (tmp_path / "corpus/x/f").write_text("edited while it was keyed")
    with pytest.raises(SourceError, match="its key says"):
        make(tmp_path, {"kind": "dir", "tree": digest.of_bytes(b"before")}, {"dir": "x"})


def test_a_refused_source_writes_no_tree(tmp_path):
    (tmp_path / "corpus/x").mkdir(parents=True)
    (tmp_path / "corpus/x/out").symlink_to("/etc")
    with pytest.raises(SourceError, match="out: is a symbolic link out of the tree"):
        make(tmp_path, {"kind": "dir"}, {"dir": "x"})
    assert not (tmp_path / "artifacts").exists()
