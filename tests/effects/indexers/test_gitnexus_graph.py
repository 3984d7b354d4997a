"""The normaliser of GitNexus's rows, on rows as the export writes them."""

import random

import jsonschema

from bench import schemas
from bench.core import digest, pdg
from bench.effects.indexers import gitnexus_graph


def definition(table, id, name, path, first, last):
    return {"table": table, "id": id, "name": name, "filePath": path, "startLine": first, "endLine": last}


def block(number, first, last, text, place="a.js:1:0"):
    path = place.rsplit(":", 2)[0]
    id = f"BasicBlock:{place}:{number}"
    return {"table": "BasicBlock", "id": id, "filePath": path, "startLine": first, "endLine": last, "text": text}


def relation(source, kind, target, reason=None):
    return {"relation": kind, "source": source, "target": target, "reason": reason}


B = "BasicBlock:a.js:1:0"
ROWS = [
    {"table": "File", "id": "File:a.js", "name": "a.js", "filePath": "a.js"},
    {"table": "File", "id": "File:README.md", "name": "README.md", "filePath": "README.md"},
    {"table": "Community", "id": "c0", "name": "c", "filePath": ""},
    definition("Section", "Section:README.md:h", "h", "README.md", 0, 2),
    definition("Function", "Function:a.js:f", "f", "a.js", 0, 6),
    definition("Function", "Function:a.js:f.g@2:2", "g", "a.js", 2, 3),
    definition("Class", "Class:a.js:C", "C", "a.js", 8, 12),
    definition("Method", "Method:a.js:C.m#0", "m", "a.js", 9, 11),
    block(0, 1, 1, None),
    block(1, 7, 7, None),
    block(2, 2, 2, "let t = n"),
    block(3, 5, 5, "t > 1"),
    block(4, 6, 6, "return t"),
    relation("File:a.js", "DEFINES", "Function:a.js:f"),
    relation("File:a.js", "DEFINES", "Class:a.js:C"),
    relation("Class:a.js:C", "HAS_METHOD", "Method:a.js:C.m#0"),
    relation("Method:a.js:C.m#0", "CALLS", "Function:a.js:f", "local-call"),
    relation("Method:a.js:C.m#0", "CALLS", "Function:gone.js:x"),
    relation(f"{B}:0", "REACHING_DEF", f"{B}:2", "n|1:1:2"),
    relation(f"{B}:2", "REACHING_DEF", f"{B}:4", "t|1:2:6"),
    relation(f"{B}:3", "CDG", f"{B}:4", "T"),
    relation(f"{B}:4", "CDG", f"{B}:1", "T"),
    {"end": True},
]


def test_definitions_keep_their_place_with_lines_from_one():
    graph = pdg.load(gitnexus_graph.normalise(ROWS))
    [method] = graph.definitions("a.C.m")
    assert (method.kind, method.line, method.end_line) == ("function", 10, 12)
    assert [n.id for n in graph.callers("Function:a.js:f")] == [method.id]
    assert graph.callees(method.id) == (graph.node("Function:a.js:f"),)


def test_blocks_belong_to_the_function_that_begins_where_they_say():
    raw = gitnexus_graph.normalise(ROWS)
    owners = {e["to"]: e["from"] for e in raw["edges"] if e["kind"] == "contains"}
    assert owners[f"{B}:2"] == "Function:a.js:f"
    assert f"{B}:1" not in owners


def test_the_entry_block_becomes_the_parameters():
    graph = pdg.load(gitnexus_graph.normalise(ROWS))
    assert [(d.node.id, d.label) for d in graph.data("a.js", 2)] == [("Function:a.js:f(n)", "n")]
    assert graph.node("Function:a.js:f(n)").kind == "parameter"
    assert [n.id for n in graph.backward_slice("a.js", 6)] == ["Function:a.js:f(n)", f"{B}:2", f"{B}:3", f"{B}:4"]


def test_what_is_no_program_is_left_out():
    raw = gitnexus_graph.normalise(ROWS)
    jsonschema.validate(raw, schemas.load("graph"))
    assert raw["language"] == "javascript"
    assert {n["path"] for n in raw["nodes"]} == {"a.js"}


def test_the_order_of_the_rows_does_not_matter():
    rows = list(ROWS)
    random.Random(3).shuffle(rows)
    assert digest.canonical(gitnexus_graph.normalise(rows)) == digest.canonical(gitnexus_graph.normalise(ROWS))


def test_no_rows_are_an_empty_graph_of_no_language():
    assert gitnexus_graph.normalise([{"end": True}]) == {"schema": 1, "language": "none", "nodes": [], "edges": []}
