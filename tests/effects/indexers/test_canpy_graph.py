"""The normaliser of codeanalyzer's analysis, on analyses as it writes them."""

import copy
import json

import jsonschema
import pytest

from bench import schemas
from bench.core import digest, pdg
from bench.effects.indexers import canpy_graph

ROOT = "can://src/python/"


def function(path, name, line, end, **more):
    """A callable at a place, with one statement on each line after the first."""
    raw = {
        "id": f"{ROOT}{path}/{name}()",
        "name": name,
        "signature": f"{path[:-3].replace('/', '.')}.{name}",
        "start_line": line,
        "end_line": end,
        "parameters": [],
        "local_variables": [],
        "callables": {},
        "types": {},
        "body": {"@entry": {"kind": "entry"}, "@exit": {"kind": "exit"}},
        "cdg": [],
        "ddg": [],
    }
    for at in range(line + 1, end + 1):
        raw["body"][f"{at}:4"] = {"kind": "statement", "span": {"start": [at, 4], "end": [at, 20]}}
        raw["cdg"].append({"src": "@entry", "dst": f"{at}:4"})
    return raw | more


def module(path, *functions, variables=(), imports=(), types=()):
    return {
        "id": ROOT + path,
        "source": "\n" * 30,
        "imports": list(imports),
        "functions": {f["name"]: f for f in functions},
        "types": {t["signature"]: t for t in types},
        "variables": list(variables),
        "last_modified": 1795995658.05,
        "file_path": "/somewhere/src/" + path,
    }


def variable(name, line):
    return {"name": name, "start_line": line, "end_line": line, "start_column": 0}


def analysis(modules, calls=(), externals=()):
    edges = [{"src": source, "dst": target} for source, target in calls]
    symbols = {e["id"]: e for e in externals}
    return {"application": {"symbol_table": modules, "call_graph": edges, "external_symbols": symbols}}


def data(source, target, name):
    return {"src": source, "dst": target, "var": name}


def edges(graph, kind):
    return [(e["from"], e["to"], e.get("label")) for e in graph["edges"] if e["kind"] == kind]


def test_ids_are_paths_and_names_and_nothing_of_the_machine_is_kept():
    raw = analysis({"pkg/a.py": module("pkg/a.py", function("pkg/a.py", "f", 1, 2), variables=[variable("K", 9)])})
    graph = canpy_graph.normalise(raw)
    jsonschema.validate(graph, schemas.load("graph"))
    assert [n["id"] for n in graph["nodes"]] == ["pkg/a.py", "pkg/a.py::K", "pkg/a.py::f", "pkg/a.py::f@2:4"]
    text = digest.canonical(graph).decode()
    assert "can:" not in text
    assert "/somewhere" not in text
    assert "1795995658" not in text


def test_a_value_comes_from_the_parameter_the_function_around_or_the_module():
    inner = function("a.py", "inner", 5, 6, ddg=[data("@entry", "6:4", n) for n in ("n.x", "t[0]", "a::K", "print")])
    inner["id"] = f"{ROOT}a.py/outer()/inner()"
    outer = function(
        "a.py", "outer", 2, 8, callables={"inner": inner}, local_variables=[variable("t", 3) | {"start_column": 4}]
    )
    outer["parameters"] = [{"name": "n", "start_line": 2, "end_line": 2}]
    graph = canpy_graph.normalise(analysis({"a.py": module("a.py", outer, variables=[variable("K", 1)])}))
    target = "a.py::outer.inner@6:4"
    assert edges(graph, "data") == [
        ("a.py::K", target, "K"),
        ("a.py::outer(n)", target, "n.x"),
        ("a.py::outer@3:4", target, "t[0]"),
    ]


@pytest.mark.parametrize(
    ("module_named", "name"), [("pkg.b", "g"), (".b", "g"), ("..pkg.b", "g")], ids=["absolute", "relative", "parent"]
)
def test_an_imported_name_is_followed_to_its_definition(module_named, name):
    user = function("pkg/a.py", "f", 2, 3, ddg=[data("@entry", "3:4", "a::g")])
    modules = {
        "pkg/__init__.py": module("pkg/__init__.py"),
        "pkg/a.py": module("pkg/a.py", user, imports=[{"module": module_named, "name": name}]),
        "pkg/b.py": module("pkg/b.py", function("pkg/b.py", "g", 1, 2)),
    }
    assert edges(canpy_graph.normalise(analysis(modules)), "data") == [("pkg/b.py::g", "pkg/a.py::f@3:4", "g")]


def test_a_call_into_a_source_layout_is_resolved_by_the_name_that_is_imported():
    modules = {
        "src/pkg/__init__.py": module("src/pkg/__init__.py"),
        "src/pkg/a.py": module("src/pkg/a.py", function("src/pkg/a.py", "f", 1, 2)),
        "main.py": module("main.py", function("main.py", "main", 1, 2)),
    }
    far = {"id": "can://src/@external/pkg.a/f", "name": "f", "module": "pkg.a"}
    raw = analysis(modules, [(f"{ROOT}main.py/main()", far["id"])], [far])
    assert edges(canpy_graph.normalise(raw), "calls") == [("main.py::main", "src/pkg/a.py::f", None)]


def test_module_level_calls_constructors_and_libraries_find_their_nodes():
    shape = {"name": "S", "signature": "a.S", "id": f"{ROOT}a.py/S", "start_line": 4, "end_line": 5}
    shape |= {"callables": {}, "types": {}, "attributes": {}}
    caller = function("a.py", "f", 1, 2)
    external = [
        {"id": "can://src/@external/a", "name": "a"},
        {"id": "can://src/@external/a.S/__init__", "name": "__init__", "module": "a.S"},
        {"id": "can://src/@external/os/getcwd", "name": "getcwd", "module": "os"},
        {"id": "can://src/@external/builtins.int/__init__", "name": "__init__", "module": "builtins.int"},
    ]
    calls = [("can://src/@external/a", caller["id"])] + [(caller["id"], e["id"]) for e in external[1:]]
    caller["body"]["2:8"] = {"kind": "call", "callee": external[2]["id"], "parent": "2:4", "span": {"start": [2, 8]}}
    graph = canpy_graph.normalise(analysis({"a.py": module("a.py", caller, types=[shape])}, calls, external))
    assert edges(graph, "calls") == [
        ("a.py", "a.py::f", None),
        ("a.py::f", "@external/builtins.int", None),
        ("a.py::f", "@external/os.getcwd", "2"),
        ("a.py::f", "a.py::S", None),
    ]
    loaded = pdg.load(graph)
    assert loaded.node("@external/builtins.int").kind == "class"
    assert (loaded.node("@external/os.getcwd").path, loaded.node("@external/os.getcwd").line) == ("", 0)


def test_a_variable_and_a_function_of_one_name_are_two_nodes():
    raw = analysis({"a.py": module("a.py", function("a.py", "f", 1, 1), variables=[variable("f", 3)])})
    kinds = {n["id"]: n["kind"] for n in canpy_graph.normalise(raw)["nodes"]}
    assert kinds == {"a.py": "module", "a.py::f": "function", "a.py::f#variable": "variable"}


def test_a_line_that_is_unknown_is_that_of_the_function():
    f = function("a.py", "f", 4, 4, parameters=[{"name": "n", "start_line": -1, "end_line": -1}])
    graph = pdg.load(canpy_graph.normalise(analysis({"a.py": module("a.py", f)})))
    assert graph.node("a.py::f(n)").line == 4


def test_the_order_of_the_analysis_does_not_matter():
    modules = {p: module(p, function(p, "f", 1, 3), function(p, "g", 5, 6)) for p in ("a.py", "b/c.py", "z.py")}
    one = analysis(modules, [(f"{ROOT}a.py/f()", f"{ROOT}z.py/g()"), (f"{ROOT}z.py/g()", f"{ROOT}b/c.py/f()")])
    other = copy.deepcopy(one)
    other["application"]["symbol_table"] = dict(reversed(modules.items()))
    other["application"]["call_graph"].reverse()
    assert digest.canonical(canpy_graph.normalise(one)) == digest.canonical(canpy_graph.normalise(other))
    json.dumps(one)


def test_unparsed_files_are_sorted():
    assert canpy_graph.normalise(analysis({}), ["b.py", "a.py"])["unparsed"] == ["a.py", "b.py"]
    assert canpy_graph.empty() == canpy_graph.normalise(analysis({}))
