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


def make(root, keyed, spec, files=None, markers=MARKERS):
    scratch = root / "scratch" / digest.of("x", [keyed, spec])[3:]
    scratch.mkdir(parents=True)
    store = open_store(root / "artifacts/store")
    lines = []
    blobs = {path: store.put(data) for path, data in (files or {}).items()}
    job = Job("template", "t", "k", {"source": keyed, "markers": markers}, {}, blobs, {"source": spec})
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
            make(tmp_path, {"kind": "dir"}, {"dir": "repo"}, {path: text.encode() for path, text in FILES.items()}),
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


def test_only_the_keyed_snapshot_of_a_directory_is_built(tmp_path):
    folder = tmp_path / "corpus/x"
    folder.mkdir(parents=True)
    (folder / "f").write_bytes(b"1")
    (folder / "run").write_bytes(b"2")
    (folder / "run").chmod(0o755)
    (folder / "link").symlink_to("./f")
    keyed = {"kind": "dir", "links": {"link": "./f"}, "executable": ["run"]}
    files = {"f": b"1", "run": b"2"}
    assert make(tmp_path, keyed, {"dir": "x"}, files)[0].body["files"] == 3
    edited = [
        (keyed, files | {"f": b"3"}, "f"),
        (keyed, files | {"gone": b""}, "gone"),
        (keyed, {"f": b"1"}, "run"),
        (keyed | {"executable": []}, files, "run"),
        (keyed | {"links": {"link": "f"}}, files, "link"),
    ]
    for number, (said, content, where) in enumerate(edited):
        with pytest.raises(SourceError, match=f"^{where}: was edited while doit ran"):
            make(tmp_path, said | {"case": number}, {"dir": "x"}, content)


def test_a_refused_source_writes_no_tree(tmp_path):
    (tmp_path / "corpus/x").mkdir(parents=True)
    (tmp_path / "corpus/x/out").symlink_to("/etc")
    keyed = {"kind": "dir", "links": {"out": "/etc"}}
    with pytest.raises(SourceError, match="out: is a symbolic link out of the tree"):
        make(tmp_path, keyed, {"dir": "x"})
    assert not (tmp_path / "artifacts").exists()
