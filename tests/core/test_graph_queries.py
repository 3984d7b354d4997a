import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import graph_queries, pdg
from bench.core.graph_queries import QUESTIONS, answer
from tests.core.test_pdg import EXAMPLE, edge, graph, node

GRAPH = pdg.load(EXAMPLE)


@pytest.mark.parametrize(
    ("question", "target", "lines"),
    [
        (
            "definition",
            "Shape.area",
            ["definitions of Shape.area: 1", "a.py:3-9 function pkg.a.Shape.area", "  parameters: scale"],
        ),
        (
            "definition",
            "a.py:2",
            ["definitions of a.py:2: 1", "a.py:2-9 class pkg.a.Shape", "  3: function area"],
        ),
        (
            "callers",
            "Shape.area",
            [
                "callers of Shape.area: 1",
                "a.py:3-9 function pkg.a.Shape.area: 1",
                "  a.py:11-20 function pkg.a.area  (call at line 12, 15)",
            ],
        ),
        (
            "callees",
            "pkg.a.area",
            [
                "callees of pkg.a.area: 2",
                "a.py:11-20 function pkg.a.area: 2",
                "  (outside the project) function getcwd",
                "  a.py:3-9 function pkg.a.Shape.area  (call at line 12, 15)",
            ],
        ),
        (
            "slice",
            "a.py:5",
            [
                "backward slice of a.py:5, what it depends on: 5",
                "a.py:3-9 function pkg.a.Shape.area",
                "a.py:3 parameter scale in pkg.a.Shape.area",
                "a.py:4-8 statement branch in pkg.a.Shape.area",
                "a.py:5 statement return in pkg.a.Shape.area",
                "a.py:10 variable pkg.a.LIMIT",
            ],
        ),
        (
            "impact",
            "LIMIT",
            [
                "what a change of LIMIT can reach: 3 in 1 file(s)",
                "a.py:3-9 function pkg.a.Shape.area",
                "a.py:4-8 statement branch in pkg.a.Shape.area",
                "a.py:11-20 function pkg.a.area",
            ],
        ),
        (
            "neighbours",
            "./a.py:4",
            [
                "neighbours of a.py:4: 5",
                "a.py:4-8 statement branch in pkg.a.Shape.area",
                "  part of a.py:3-9 function pkg.a.Shape.area",
                "  decided by a.py:3-9 function pkg.a.Shape.area",
                "  decides about a.py:5 statement return in pkg.a.Shape.area",
                "  takes a value from [scale] a.py:3 parameter scale in pkg.a.Shape.area",
                "  takes a value from [LIMIT] a.py:10 variable pkg.a.LIMIT",
            ],
        ),
    ],
)
def test_what_is_asked_is_answered_with_places(question, target, lines):
    found = answer(GRAPH, question, target)
    assert found.ok
    assert found.text.splitlines() == lines


@pytest.mark.parametrize(
    ("question", "target", "said"),
    [
        ("callers", "aera", "the graph has no definition 'aera'; did you mean 'area'?"),
        ("callers", "Shap.area", "there is pkg.a.Shape.area, pkg.a.area"),
        ("slice", "area", "a slice is taken at a place"),
        ("slice", "a.py:19", "no statement of the graph at a.py:19"),
        ("impact", "b.py:1", "the graph has no file 'b.py'; did you mean 'a.py'?"),
        ("slice", "b.py:1", "the graph has no file 'b.py'"),
        ("impact", " ", "the target is empty"),
        ("impact", "a\nb", "not printable"),
        ("impact", "x" * 600, "too long"),
        ("calers", "area", "did you mean 'callers'?"),
    ],
)
def test_what_cannot_be_answered_says_what_to_ask_instead(question, target, said):
    found = answer(GRAPH, question, target)
    assert not found.ok
    assert said in found.text


def test_a_place_may_leave_out_leading_folders_where_that_is_clear():
    deep = pdg.load(graph([node("s", path="src/pkg/a.py", line=3)], []))
    assert answer(deep, "slice", "pkg/a.py:3").text.startswith("backward slice")


def test_an_answer_is_bounded_and_counts_what_it_leaves_out():
    names = [f"f{number:04}" for number in range(1000)]
    nodes = [node("f", "function"), *(node(name, "function", line=2) for name in names)]
    found = answer(pdg.load(graph(nodes, [edge(name, "f", "calls") for name in names])), "callers", "f")
    lines = found.text.splitlines()
    assert len(lines) == graph_queries.MAX_LINES + 2
    assert lines[-1] == "… and 851 more line(s); ask about something smaller"
    assert len(found.text) <= graph_queries.MAX_CHARS + 200


@given(st.sampled_from([*QUESTIONS, "?"]), st.text(max_size=40))
def test_no_text_breaks_it(question, target):
    assert answer(GRAPH, question, target).text
