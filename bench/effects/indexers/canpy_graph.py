"""From codeanalyzer's analysis.json (schema 2.0.0, level 3) to the normalised graph.

Kept: modules, classes, functions, parameters, module and class variables, statements; containment, calls, control and data
dependences. Dropped: source text, comments, values, hashes, times, absolute paths, the mount's name, the CFG. Ids are
`path::Outer.inner`, of a statement `…@line:column`, of a parameter `…(name)`; never an id of codeanalyzer's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.effects.indexers import edge_of

SCHEMA = 1
LANGUAGE = "python"
EXTERNAL = "@external/"
"""Prefix of what is called but not part of the tree: path "", line 0."""


@dataclass(frozen=True, slots=True)
class _Function:
    """A callable whose dependences are still to be drawn, with the functions around it, innermost first."""

    raw: Mapping[str, Any]
    id: str
    path: str
    around: tuple[_Function, ...]


@dataclass(slots=True)
class _Graph:
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: set[tuple[str, str, str, str]] = field(default_factory=set)
    functions: list[_Function] = field(default_factory=list)
    ours: dict[str, str] = field(default_factory=dict)
    """Codeanalyzer's id → ours."""
    names: dict[str, str] = field(default_factory=dict)
    """Dotted name → our id; the first declaration in path order has it."""
    bindings: dict[tuple[str, str], str] = field(default_factory=dict)
    """(path, name at module level) → our id, or the dotted name that an import binds."""
    packages: frozenset[str] = frozenset()
    """Folders that hold an `__init__.py`."""

    def node(self, id: str, kind: str, name: str, path: str, lines: Sequence[int]) -> str:
        """Add a node; one of another kind that has the id already (a variable named as a function) keeps it."""
        if id in self.nodes and self.nodes[id]["kind"] != kind:
            id = f"{id}#{kind}"
        line, end = lines
        node = {"id": id, "kind": kind, "name": name, "path": path, "line": line, "end_line": max(line, end)}
        self.nodes.setdefault(id, node)
        return id

    def edge(self, source: str, target: str, kind: str, label: str = "") -> None:
        self.edges.add((source, target, kind, label))

    def resolve(self, path: str, name: str) -> str | None:
        """The node that a name at the module level of a file stands for, through one import."""
        bound = self.bindings.get((path, name))
        if bound is None or bound in self.nodes:
            return bound
        return self.names.get(bound)


def empty() -> dict[str, Any]:
    """The graph of nothing."""
    return {"schema": SCHEMA, "language": LANGUAGE, "nodes": [], "edges": [], "unparsed": []}


def normalise(analysis: Mapping[str, Any], unparsed: Sequence[str] = ()) -> dict[str, Any]:
    """The normalised graph; `unparsed` are paths that codeanalyzer was given and could not read."""
    application = analysis["application"]
    modules = sorted(application["symbol_table"].items())
    graph = _Graph(packages=frozenset(path.rpartition("/")[0] for path, _ in modules if path.endswith("/__init__.py")))
    for path, module in modules:
        _module(graph, path, module)
    lines: dict[tuple[str, str], set[int]] = {}
    for function in graph.functions:
        _dependences(graph, function)
        for node in function.raw["body"].values():
            if node.get("callee"):
                lines.setdefault((function.raw["id"], node["callee"]), set()).add(node["span"]["start"][0])
    for call in application["call_graph"]:
        source, target = (_endpoint(graph, call[end], application["external_symbols"]) for end in ("src", "dst"))
        known = sorted(lines.get((call["src"], call["dst"]), ()))
        graph.edge(source, target, "calls", ",".join(map(str, known)))
    return {
        "schema": SCHEMA,
        "language": LANGUAGE,
        "nodes": [graph.nodes[id] for id in sorted(graph.nodes)],
        "edges": [edge_of(*edge) for edge in sorted(graph.edges) if edge[0] in graph.nodes and edge[1] in graph.nodes],
        "unparsed": sorted(unparsed),
    }


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _module(graph: _Graph, path: str, raw: Mapping[str, Any]) -> None:
    end = raw.get("source", "").count("\n") or 1
    id = graph.node(path, "module", _dotted(path), path, (1, end))
    graph.ours[raw["id"]] = id
    _named(graph, path, id)
    for item in raw["imports"]:
        graph.bindings.setdefault((path, item.get("alias") or item["name"]), _imported(path, item))
    for function in raw["functions"].values():
        graph.bindings[path, function["name"]] = _function(graph, path, id, function, ())
    for cls in raw["types"].values():
        graph.bindings[path, cls["name"]] = _class(graph, path, id, cls, ())
    for variable in raw["variables"]:
        name = variable["name"]
        mine = _variable(graph, path, id, variable)
        _named(graph, path, mine)
        graph.bindings[path, name] = mine


def _named(graph: _Graph, path: str, id: str) -> None:
    """Enter a definition under both names that codeanalyzer has for it: by its path, and as Python imports it.

    The second starts at the outermost of the packages around the file, so that of a source below src/ lacks that folder.
    """
    folders = path.split("/")[:-1]
    start = len(folders)
    while start and "/".join(folders[:start]) in graph.packages:
        start -= 1
    inside = id[len(path) :].replace("::", ".", 1)
    for module in (_dotted(path), _dotted("/".join(path.split("/")[start:]))):
        graph.names.setdefault(module + inside, id)


def _imported(path: str, item: Mapping[str, Any]) -> str:
    module = item["module"]
    if not module.startswith("."):
        return str(module) if module == item["name"] else f"{module}.{item['name']}"
    ups = len(module) - len(module.lstrip("."))
    folder = path.split("/")[:-ups]
    return ".".join([*folder, *filter(None, module.lstrip(".").split(".")), item["name"]])


def _class(graph: _Graph, path: str, parent: str, raw: Mapping[str, Any], around: tuple[_Function, ...]) -> str:
    id = graph.node(_below(parent, path, raw["name"]), "class", raw["name"], path, (raw["start_line"], raw["end_line"]))
    _declared(graph, path, parent, id, raw)
    for attribute in raw["attributes"].values():
        _variable(graph, path, id, attribute)
    _inside(graph, path, id, raw, around)
    return id


def _function(graph: _Graph, path: str, parent: str, raw: Mapping[str, Any], around: tuple[_Function, ...]) -> str:
    id = graph.node(_below(parent, path, raw["name"]), "function", raw["name"], path, (raw["start_line"], raw["end_line"]))
    _declared(graph, path, parent, id, raw)
    for parameter in raw["parameters"]:
        lines = (_line(parameter, "start_line", raw["start_line"]), _line(parameter, "end_line", raw["start_line"]))
        name = parameter["name"]
        graph.edge(id, graph.node(f"{id}({name})", "parameter", name, path, lines), "contains")
    for key in _statements(raw):
        span = raw["body"][key].get("span", {"start": [raw["start_line"]], "end": [raw["start_line"]]})
        lines = (span["start"][0], span["end"][0])
        graph.edge(id, graph.node(f"{id}@{key}", "statement", raw["body"][key]["kind"], path, lines), "contains")
    function = _Function(raw, id, path, around)
    graph.functions.append(function)
    _inside(graph, path, id, raw, (function, *around))
    return id


def _inside(graph: _Graph, path: str, id: str, raw: Mapping[str, Any], around: tuple[_Function, ...]) -> None:
    for function in raw["callables"].values():
        _function(graph, path, id, function, around)
    for cls in raw["types"].values():
        _class(graph, path, id, cls, around)


def _declared(graph: _Graph, path: str, parent: str, id: str, raw: Mapping[str, Any]) -> None:
    graph.ours.setdefault(raw["id"], id)
    graph.names.setdefault(raw["signature"], id)
    _named(graph, path, id)
    graph.edge(parent, id, "contains")


def _variable(graph: _Graph, path: str, parent: str, raw: Mapping[str, Any]) -> str:
    first = _line(raw, "start_line", 0)
    lines = (first, _line(raw, "end_line", first))
    id = graph.node(_below(parent, path, raw["name"]), "variable", raw["name"], path, lines)
    graph.edge(parent, id, "contains")
    return id


def _line(raw: Mapping[str, Any], key: str, default: int) -> int:
    # -1 stands for "unknown" in codeanalyzer's own output.
    value = raw.get(key)
    return value if isinstance(value, int) and value > 0 else default


def _below(parent: str, path: str, name: str) -> str:
    return f"{parent}::{name}" if parent == path else f"{parent}.{name}"


def _statements(raw: Mapping[str, Any]) -> Iterator[str]:
    """Keys of the body that are statements: not the entry and exit, and not a call inside a larger statement."""
    ends = {edge[end] for kind in ("cdg", "ddg") for edge in raw.get(kind, ()) for end in ("src", "dst")}
    for key, node in raw["body"].items():
        if not key.startswith("@") and (node["kind"] != "call" or "parent" not in node or key in ends):
            yield key


def _dependences(graph: _Graph, function: _Function) -> None:
    for edge in function.raw.get("cdg", ()):
        source = function.id if edge["src"].startswith("@") else f"{function.id}@{edge['src']}"
        if not edge["dst"].startswith("@"):
            graph.edge(source, f"{function.id}@{edge['dst']}", "control")
    for edge in function.raw.get("ddg", ()):
        if edge["dst"].startswith("@"):
            continue
        sources = [f"{function.id}@{edge['src']}"]
        if edge["src"].startswith("@"):
            sources = _from_outside(graph, function, edge["var"])
        for source in sources:
            graph.edge(source, f"{function.id}@{edge['dst']}", "data", edge["var"].rpartition("::")[2])


def _from_outside(graph: _Graph, function: _Function, variable: str) -> list[str]:
    """Where a value comes from that a function finds on entry: a parameter, the functions around it, its module.

    Names of the language itself and of other libraries come from nowhere in the tree.
    """
    base = variable.rpartition("::")[2].split(".")[0].split("[")[0]
    if "::" not in variable:
        for owner in (function, *function.around):
            parameter = f"{owner.id}({base})"
            if parameter in graph.nodes:
                return [parameter]
            places = [v for v in owner.raw["local_variables"] if v["name"] == base and owner is not function]
            known = [f"{owner.id}@{v['start_line']}:{v['start_column']}" for v in places]
            if places:
                return [id for id in known if id in graph.nodes]
    bound = graph.resolve(function.path, base)
    return [bound] if bound else []


def _endpoint(graph: _Graph, id: str, externals: Mapping[str, Any]) -> str:
    """Our id of an end of a call. Module-level code and constructors come as externals, though their names are ours."""
    if id in graph.ours:
        return graph.ours[id]
    symbol = externals.get(id, {"name": id.rpartition("/")[2]})
    name = ".".join(filter(None, (symbol.get("module"), symbol["name"])))
    constructs = name.endswith(".__init__")
    name = name.removesuffix(".__init__")
    if name in graph.names:
        return graph.names[name]
    kind = "class" if constructs else "function"
    return graph.node(EXTERNAL + name, kind, name.rpartition(".")[2], "", (0, 0))
