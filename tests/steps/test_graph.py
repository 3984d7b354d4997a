"""The graph step over real templates: what it records, what it leaves out, what it refuses."""

import json

import pytest

from bench.core import digest, pdg, records
from bench.core.records import Blob, Record
from bench.effects import indexers, trees
from bench.errors import StepFailed
from bench.steps import graph as step
from tests.effects.indexers.sources import SHAPES, write
from tests.steps.making import context_at, job_of


def template(context, files):
    """The record of a template with these files."""
    blob = context.store.put(trees.pack(trees.read(write(context.root / "source", files))))
    return records.sealed(Record("template", "t", "k", {}, {}, "final", None, {"tree": Blob(blob.blob, blob.bytes)}, {}))


def make(root, files, markers=(), **changed):
    context = context_at(root)
    identity = indexers.create("codeanalyzer").identity()
    params = {"indexer": "codeanalyzer", "identity": identity, "markers": list(markers), "seconds": 300} | changed
    made = step.make(job_of("graph", context, params, inputs={"template": template(context, files)}), context)
    return made, context


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return make(tmp_path_factory.mktemp("whole"), SHAPES | {"broken.py": "def (", "README.md": "shapes"})


def test_the_body_says_what_the_graph_holds(whole):
    made, context = whole
    graph = json.loads(context.store.get(made.outputs["graph"].blob))
    assert made.state == records.FINAL
    assert dict(made.body) == {
        "language": "python",
        "nodes": len(graph["nodes"]),
        "edges": len(graph["edges"]),
        "empty": False,
        "reason": None,
        "unparsed": ["broken.py"],
        "left_out": [],
    }
    assert pdg.load(graph).definitions("Shape.area")


def test_the_output_is_canonical_and_the_same_at_another_place(whole, tmp_path):
    made, context = whole
    data = context.store.get(made.outputs["graph"].blob)
    assert data == digest.canonical(json.loads(data))
    again, _ = make(tmp_path / "else where", SHAPES | {"broken.py": "def (", "README.md": "shapes"})
    assert again.outputs == made.outputs
    assert again.body == made.body


def test_nothing_to_index_is_final_empty_and_says_why(tmp_path):
    made, _ = make(tmp_path, {"README.md": "no code"})
    assert made.state == records.FINAL
    assert made.body["empty"]
    assert made.body["reason"]
    assert made.body["nodes"] == made.body["edges"] == 0


def test_an_environment_other_than_the_keyed_one_is_refused(tmp_path):
    with pytest.raises(StepFailed, match="the indexer changed"):
        make(tmp_path, SHAPES, identity={"codeanalyzer-python": "0"})


def test_the_time_limit_comes_from_the_parameters(tmp_path):
    with pytest.raises(StepFailed, match="time"):
        make(tmp_path, SHAPES, seconds=0.2)
