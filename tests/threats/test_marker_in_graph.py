"""Incident: the graph is a second way into the harness: an agent asks it for what its clone no longer holds (reference 19).

Whatever in a source carries a marker is left out of what is indexed, and the finished graph is searched again: what comes
together only inside the indexer (a dotted name, a compatibility character that Python reads as a letter) ends the step.
"""

import json

import pytest

from bench.core import pdg
from bench.errors import StepFailed
from tests.effects.indexers.sources import SHAPES
from tests.steps.test_graph import make

MARKERS = ["oracles/parse/test_hidden.py", "BENCH_ORACLE_ROOT", "corpus/demo.yaml"]
CARRIERS = {
    "a name": ("a.py", "def BENCH_ORACLE_ROOT():\n    return 1\n"),
    "a text": ("a.py", "ROOT = 'BENCH_ORACLE_ROOT'\n"),
    "a comment": ("a.py", "# see oracles/parse/test_hidden.py\n"),
    "a path": ("x/oracles/parse/test_hidden.py", "def test(): pass\n"),
    "a large file": ("a.py", "x = 1\n" * 100_000 + "BENCH_ORACLE_ROOT = 2\n"),
    "another encoding": ("a.py", "# -*- coding: latin-1 -*-\nBENCH_ORACLE_ROOT = '\xe9'\n".encode("latin-1")),
    "another kind of file": ("notes.md", "corpus/demo.yaml\n"),
    "bytes": ("data.bin", b"\0\xffBENCH_ORACLE_ROOT\0"),
}


@pytest.mark.slow
@pytest.mark.parametrize("carrier", CARRIERS, ids=str)
def test_a_file_that_carries_a_marker_is_left_out_and_named(carrier, tmp_path):
    path, text = CARRIERS[carrier]
    made, context = make(tmp_path, SHAPES | {path: text}, MARKERS)
    assert made.body["left_out"] == [path]
    data = context.store.get(made.outputs["graph"].blob)
    for marker in MARKERS:
        assert marker.encode() not in data
    assert pdg.load(json.loads(data)).definitions("Shape.area")


def test_a_symbolic_link_that_names_the_harness_is_left_out(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source/link.py").symlink_to("corpus/demo.yaml")
    made, _ = make(tmp_path, {}, MARKERS)
    assert made.body["left_out"] == ["link.py"]


def test_a_marker_that_comes_together_only_in_the_graph_ends_the_step(tmp_path):
    with pytest.raises(StepFailed, match="carry a harness marker"):
        make(tmp_path, SHAPES, ["Shape.area"])


def test_a_marker_in_compatibility_characters_ends_the_step(tmp_path):
    name = "".join(chr(ord(c) + 0xFEE0) for c in "BENCH") + "_ORACLE_ROOT"
    with pytest.raises(StepFailed, match="carry a harness marker"):
        make(tmp_path, {"a.py": f"def {name}():\n    return 1\n"}, MARKERS)


def test_a_marker_hidden_by_the_encoding_ends_the_step(tmp_path):
    text = b"# -*- coding: utf-7 -*-\ndef BENCH+AF8-ORACLE+AF8-ROOT():\n    return 1\n"
    with pytest.raises(StepFailed, match="carry a harness marker"):
        make(tmp_path, {"a.py": text}, MARKERS)


def test_a_word_that_only_looks_like_a_marker_is_kept(tmp_path):
    made, _ = make(tmp_path, {"a.py": "def bench_oracle_root():\n    return 1\n"}, MARKERS)
    assert made.body["left_out"] == []
    assert made.body["nodes"]
