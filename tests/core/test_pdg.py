import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import schemas
from bench.core import digest, pdg
from bench.errors import IntegrityError, UsageError


def node(
    id: str, kind: str = "statement", name: str = "", path: str = "a.py", line: int = 1, end: int = 0
) -> dict[str, Any]:
    return {"id": id, "kind": kind, "name": name or id, "path": path, "line": line, "end_line": end or line}


def edge(source: str, target: str, kind: str, label: str | None = None) -> dict[str, Any]:
    return {"from": source, "to": target, "kind": kind} | ({"label": label} if label else {})


def graph(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> dict[str, Any]:
    return {"schema": 1, "language": "python", "nodes": nodes, "edges": edges}


EXAMPLE = graph(
    [
        node("@external/os.getcwd", "function", "getcwd", "", 0),
        node("a.py", "module", "pkg.a", line=1, end=20),
        node("a.py::Shape", "class", "Shape", line=2, end=9),
        node("a.py::Shape.area", "function", "area", line=3, end=9),
        node("a.py::Shape.area(scale)", "parameter", "scale", line=3),
        node("a.py::Shape.area@4", "statement", "branch", line=4, end=8),
        node("a.py::Shape.area@5", "statement", "return", line=5),
        node("a.py::area", "function", "area", line=11, end=20),
        node("a.py::area@12", "statement", "call", line=12),
        node("a.py::LIMIT", "variable", "LIMIT", line=10),
    ],
    [
        edge("a.py", "a.py::Shape", "contains"),
        edge("a.py", "a.py::area", "contains"),
        edge("a.py", "a.py::LIMIT", "contains"),
        edge("a.py::Shape", "a.py::Shape.area", "contains"),
        edge("a.py::Shape.area", "a.py::Shape.area(scale)", "contains"),
        edge("a.py::Shape.area", "a.py::Shape.area@4", "contains"),
        edge("a.py::Shape.area", "a.py::Shape.area@5", "contains"),
        edge("a.py::area", "a.py::area@12", "contains"),
        edge("a.py::area", "a.py::Shape.area", "calls", "12,15"),
        edge("a.py::area", "@external/os.getcwd", "calls"),
        edge("a.py::Shape.area", "a.py::Shape.area@4", "control"),
        edge("a.py::Shape.area@4", "a.py::Shape.area@5", "control"),
        edge("a.py::Shape.area(scale)", "a.py::Shape.area@4", "data", "scale"),
        edge("a.py::LIMIT", "a.py::Shape.area@4", "data", "LIMIT"),
        edge("a.py::area@12", "a.py::area@12", "data", "x"),
    ],
)


def ids(nodes: tuple[pdg.Node, ...]) -> list[str]:
    return [n.id for n in nodes]


def test_definitions_are_found_by_bare_and_by_qualified_name() -> None:
    loaded = pdg.load(EXAMPLE)
    assert ids(loaded.definitions("area")) == ["a.py::Shape.area", "a.py::area"]
    assert ids(loaded.definitions("Shape.area")) == ["a.py::Shape.area"]
    assert ids(loaded.definitions("pkg.a.area")) == ["a.py::area"]
    assert ids(loaded.definitions("a.area")) == ["a.py::area"]
    assert ids(loaded.definitions("LIMIT")) == ["a.py::LIMIT"]
    assert ids(loaded.definitions("pkg.a")) == ["a.py"]


def test_a_part_of_a_name_and_a_library_function_are_no_definitions() -> None:
    loaded = pdg.load(EXAMPLE)
    assert loaded.definitions("rea") == ()
    assert loaded.definitions("ape.area") == ()
    assert loaded.definitions("getcwd") == ()
    assert loaded.definitions("") == ()


def test_callers_callees_and_the_lines_of_a_call() -> None:
    loaded = pdg.load(EXAMPLE)
    assert ids(loaded.callers("a.py::Shape.area")) == ["a.py::area"]
    assert ids(loaded.callees("a.py::area")) == ["@external/os.getcwd", "a.py::Shape.area"]
    assert loaded.call_lines("a.py::area", "a.py::Shape.area") == (12, 15)
    assert loaded.call_lines("a.py::area", "@external/os.getcwd") == ()


def test_dependences_of_a_line_name_the_variable() -> None:
    loaded = pdg.load(EXAMPLE)
    assert [(d.node.id, d.label) for d in loaded.data("a.py", 4)] == [
        ("a.py::Shape.area(scale)", "scale"),
        ("a.py::LIMIT", "LIMIT"),
    ]
    assert [d.node.id for d in loaded.control("a.py", 5)] == ["a.py::Shape.area@4"]
    assert loaded.control("a.py", 99) == ()
    assert loaded.control("b.py", 5) == ()


def test_a_line_belongs_to_its_innermost_statement() -> None:
    loaded = pdg.load(EXAMPLE)
    assert ids(loaded.statements("a.py", 5)) == ["a.py::Shape.area@5"]
    assert ids(loaded.statements("a.py", 7)) == ["a.py::Shape.area@4"]


def test_backward_slice_goes_through_control_and_data() -> None:
    assert ids(pdg.load(EXAMPLE).backward_slice("a.py", 5)) == [
        "a.py::Shape.area",
        "a.py::Shape.area(scale)",
        "a.py::Shape.area@4",
        "a.py::Shape.area@5",
        "a.py::LIMIT",
    ]


def test_impact_reaches_callers_through_the_function_that_uses_a_variable() -> None:
    loaded = pdg.load(EXAMPLE)
    assert ids(loaded.impact("a.py::LIMIT")) == ["a.py::Shape.area", "a.py::Shape.area@4", "a.py::area"]
    assert ids(loaded.impact("a.py::Shape")) == ["a.py::area"]
    assert ids(loaded.impact("a.py::area")) == []


def test_a_graph_of_version_1_is_read_for_ever() -> None:
    data = (Path(__file__).parents[1] / "golden/graph-1.json").read_bytes()
    raw = json.loads(data)
    jsonschema.validate(raw, schemas.load("graph"))
    assert digest.canonical(raw) == data
    loaded = pdg.load(raw)
    assert ids(loaded.callers("pkg/shapes.py::measure")) == ["main.py::main"]
    assert [n.line for n in loaded.backward_slice("pkg/shapes.py", 13) if n.kind == "statement"] == [10, 11, 12, 13]


def test_an_unknown_id_is_named() -> None:
    with pytest.raises(UsageError, match="no node 'nowhere'"):
        pdg.load(EXAMPLE).callers("nowhere")


@pytest.mark.parametrize(
    "broken",
    [
        {},
        graph([], []) | {"schema": 2},
        graph([{"id": "x"}], []),
        graph([node("x", kind="file")], []),
        graph([node("x"), node("x")], []),
        graph([node("x", path="/etc/passwd")], []),
        graph([node("x", path="a/../../b")], []),
        graph([node("x", line=3, end=2)], []),
        graph([node("x")], [edge("x", "y", "calls")]),
        graph([node("x")], [edge("x", "x", "imports")]),
    ],
    ids=["empty", "schema", "fields", "kind", "twice", "absolute", "parent", "lines", "dangling", "edge-kind"],
)
def test_what_is_no_graph_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError):
        pdg.load(broken)


def test_markers_are_found_in_any_string_keys_included() -> None:
    value = {"nodes": [{"name": "x.ORACLE_ROOT.y"}], "ORACLE_ROOT": [], "other": ["oracle_root"]}
    assert pdg.marked(value, ["ORACLE_ROOT"]) == ("ORACLE_ROOT", "x.ORACLE_ROOT.y")
    assert pdg.marked(value, ["", "absent"]) == ()


UNTIMED = settings(deadline=None, max_examples=60)
NAMES = [f"n{i}" for i in range(12)]
KINDS = sorted(pdg.EDGE_KINDS)


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Any nodes, any edges between them: cycles, loops, several parents, statements that overlap."""
    nodes = [
        node(
            name,
            draw(st.sampled_from(sorted(pdg.NODE_KINDS))),
            draw(st.sampled_from(["f", "g", "h.f"])),
            draw(st.sampled_from(["a.py", "b.py"])),
            line := draw(st.integers(1, 6)),
            line + draw(st.integers(0, 3)),
        )
        for name in NAMES
    ]
    ends = st.sampled_from(NAMES)
    triples = draw(st.lists(st.tuples(ends, ends, st.sampled_from(KINDS)), max_size=40, unique=True))
    return graph(nodes, [edge(*triple) for triple in triples])


@UNTIMED
@given(graphs())
def test_callers_and_callees_are_each_others_inverse(raw: dict[str, Any]) -> None:
    loaded = pdg.load(raw)
    forward = {(a, b.id) for a in NAMES for b in loaded.callees(a)}
    backward = {(b.id, a) for a in NAMES for b in loaded.callers(a)}
    assert forward == backward == {(e["from"], e["to"]) for e in raw["edges"] if e["kind"] == "calls"}


@UNTIMED
@given(graphs(), st.integers(1, 9))
def test_a_slice_holds_its_criterion_and_is_closed_under_dependence(raw: dict[str, Any], line: int) -> None:
    loaded = pdg.load(raw)
    inside = set(ids(loaded.backward_slice("a.py", line)))
    assert set(ids(loaded.statements("a.py", line))) <= inside
    for e in raw["edges"]:
        if e["kind"] in ("control", "data") and e["to"] in inside:
            assert e["from"] in inside


@UNTIMED
@given(graphs(), st.integers(1, 9), st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(KINDS)))
def test_a_slice_only_grows_when_an_edge_is_added(raw: dict[str, Any], line: int, added: tuple[str, str, str]) -> None:
    before = set(ids(pdg.load(raw).backward_slice("a.py", line)))
    after = set(ids(pdg.load(graph(raw["nodes"], [*raw["edges"], edge(*added)])).backward_slice("a.py", line)))
    assert before <= after


@UNTIMED
@given(graphs())
def test_the_slice_of_what_is_in_a_slice_lies_within_it(raw: dict[str, Any]) -> None:
    loaded = pdg.load(raw)
    for line in range(1, 10):
        inside = set(ids(loaded.backward_slice("a.py", line)))
        for statement in (loaded.nodes[id] for id in inside):
            if loaded.statements(statement.path, statement.line) == (statement,):
                assert set(ids(loaded.backward_slice(statement.path, statement.line))) <= inside


@UNTIMED
@given(graphs(), st.sampled_from(NAMES))
def test_impact_is_closed_under_callers_and_leaves_out_the_node(raw: dict[str, Any], id: str) -> None:
    loaded = pdg.load(raw)
    reached = set(ids(loaded.impact(id)))
    assert id not in reached
    own = {id} | {n for n in NAMES if loaded.nodes[id].kind in ("module", "class")}
    for other in reached:
        assert set(ids(loaded.callers(other))) <= reached | own


@UNTIMED
@given(graphs(), st.randoms(use_true_random=False))
def test_answers_do_not_depend_on_the_order_of_the_lists(raw: dict[str, Any], rng: random.Random) -> None:
    nodes, edges = list(raw["nodes"]), list(raw["edges"])
    rng.shuffle(nodes)
    rng.shuffle(edges)
    one, other = pdg.load(raw), pdg.load(graph(nodes, edges))
    for name in ("f", "h.f", "g"):
        assert one.definitions(name) == other.definitions(name)
    for id in NAMES:
        assert one.impact(id) == other.impact(id)
        assert one.callees(id) == other.callees(id)
    for line in range(1, 10):
        assert one.backward_slice("a.py", line) == other.backward_slice("a.py", line)
        assert one.data("b.py", line) == other.data("b.py", line)
