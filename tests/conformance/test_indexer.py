"""What every indexer must do, whichever it is: run over the registry, with the real program in the real sandbox."""

import os
import threading

import jsonschema
import pytest

from bench import schemas
from bench.core import digest, pdg
from bench.effects import indexers, trees
from bench.errors import Cancelled, StepFailed
from tests.effects.indexers.sources import SHAPES, UNIONS, write

pytestmark = pytest.mark.slow
INSTALLED_APART = {"gitnexus": pytest.mark.network}
"""Comes from npm, not with this project: its tests run where tests that need a registry run, and fail where it is absent."""
NAMES = [pytest.param(name, marks=INSTALLED_APART.get(name, ())) for name in sorted(indexers.INDEXERS)]


def index(name, tree, scratch, seconds=300.0, cancel=None):
    scratch.mkdir(parents=True)
    return indexers.create(name).index(tree, scratch, seconds=seconds, cancel=cancel or threading.Event())


@pytest.fixture(scope="module", params=NAMES)
def indexed(request, tmp_path_factory):
    """One source indexed at two places by two instances: (name, tree, one snapshot, the other)."""
    root = tmp_path_factory.mktemp("places")
    files = SHAPES | UNIONS
    tree = write(root / "a", files | {".git/config": "[core]\n", ".git/hook.py": "def hook(): pass\n"})
    (tree / "outside").symlink_to("/etc")
    (tree / "linked.py").symlink_to("/etc/hostname")
    other = write(root / "quite/another place/b", dict(reversed(files.items())))
    for path in files:
        os.utime(other / path, (1, 1))
    before = trees.tree_digest(trees.read(tree))
    one = index(request.param, tree, root / "scratch-1")
    assert trees.tree_digest(trees.read(tree)) == before, "the indexer wrote into the tree"
    return request.param, tree, one, index(request.param, other, root / "deeper/scratch-2")


def test_identity_is_plain_versions_and_cheap_to_ask_again(indexed):
    name = indexed[0]
    identity = indexers.create(name).identity()
    assert identity == indexers.create(name).identity()
    assert identity
    assert all(isinstance(k, str) and isinstance(v, str) and v for k, v in identity.items())
    digest.canonical(identity)


def test_the_graph_has_the_normalised_form(indexed):
    graph = indexed[2].graph
    assert indexed[2].reason is None
    jsonschema.validate(graph, schemas.load("graph"))
    ids = [n["id"] for n in graph["nodes"]]
    assert ids == sorted(set(ids))
    edges = [(e["from"], e["to"], e["kind"], e.get("label", "")) for e in graph["edges"]]
    assert edges == sorted(set(edges))
    pdg.load(graph)


def test_the_graph_is_the_same_wherever_and_whenever_it_is_made(indexed):
    _name, _tree, one, other = indexed
    assert digest.canonical(one.graph) == digest.canonical(other.graph)


def test_no_host_path_and_no_repository_is_in_the_graph(indexed):
    _name, tree, one, _other = indexed
    text = digest.canonical(one.graph).decode()
    for word in (str(tree.parent), "/tmp", "/src", "/workspace", "/home", ".git", "hook", "linked.py"):
        assert word not in text


def test_definitions_calls_and_dependences_are_found(indexed):
    graph = pdg.load(indexed[2].graph)
    [method] = graph.definitions("Shape.area")
    [shape] = graph.definitions("Shape")
    [function] = graph.definitions("measure")
    [main] = [n for n in graph.definitions("main") if n.kind == "function"]
    assert (method.kind, method.path, method.line) == ("function", "pkg/shapes.py", 9)
    assert (shape.kind, shape.line) == ("class", 4)
    assert function in graph.callees(main.id)
    assert main in graph.callers(function.id)
    assert main in graph.impact(function.id)
    assert [d.node.line for d in graph.control("pkg/shapes.py", 12)] == [11]
    assert 10 in [d.node.line for d in graph.data("pkg/shapes.py", 12)]
    assert {10, 11, 12, 13} <= {n.line for n in graph.backward_slice("pkg/shapes.py", 13)}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_index_is_an_empty_graph_that_says_so(name, tmp_path):
    snapshot = index(name, write(tmp_path / "tree", {"README.md": "# nothing\n"}), tmp_path / "scratch")
    assert snapshot.graph["nodes"] == snapshot.graph["edges"] == []
    assert snapshot.reason
    jsonschema.validate(snapshot.graph, schemas.load("graph"))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_no_source_text_does_not_spoil_the_others(name, tmp_path):
    files = SHAPES | {
        "nul.py": b"x = 1\0\n",
        "noise.py": bytes(range(128, 256)),
        "odd \xe9 (1)@2.py": "def odd(): return 1\n",
    }
    snapshot = index(name, write(tmp_path / "tree", files), tmp_path / "scratch")
    assert pdg.load(snapshot.graph).definitions("Shape.area")
    digest.canonical(snapshot.graph)


@pytest.mark.parametrize("name", NAMES)
def test_the_time_limit_ends_it(name, tmp_path):
    tree = write(tmp_path / "tree", {f"m{i}.py": SHAPES["pkg/shapes.py"] for i in range(100)})
    with pytest.raises(StepFailed, match="time"):
        index(name, tree, tmp_path / "scratch", seconds=0.3)


@pytest.mark.parametrize("name", NAMES)
def test_a_cancelled_run_is_cancelled_and_not_failed(name, tmp_path):
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        index(name, write(tmp_path / "tree", SHAPES), tmp_path / "scratch", cancel=cancel)
