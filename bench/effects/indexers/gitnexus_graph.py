"""From the rows of GitNexus's database to the normalised graph.

Kept: files that hold a definition, definitions, basic blocks; containment, calls, control dependences, reaching definitions.
Dropped: source text, communities, processes, confidences, the CFG. Ids are GitNexus's own, which hold relative paths only. A
basic block is a statement node that may cover several lines; the entry block of a function becomes its parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bench.effects.indexers import edge_of

SCHEMA = 1
KINDS = {
    "File": "module",
    "BasicBlock": "statement",
    **dict.fromkeys(("Function", "Method", "Constructor", "Macro", "Delegate"), "function"),
    **dict.fromkeys(("Class", "Protocol", "Category", "Interface", "Struct", "Enum", "Union"), "class"),
    **dict.fromkeys(("Namespace", "Trait", "Impl", "TypeAlias", "Typedef", "Record", "Annotation", "Module"), "class"),
    **dict.fromkeys(("Const", "Static", "Variable", "Property"), "variable"),
}
"""Table → node kind; rows of other tables are no part of a program."""
EDGES = {
    **dict.fromkeys(("DEFINES", "HAS_METHOD", "HAS_PROPERTY"), "contains"),
    "CALLS": "calls",
    "CDG": "control",
    "REACHING_DEF": "data",
}
LANGUAGES = {
    **dict.fromkeys(("py", "pyi"), "python"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("ts", "tsx", "mts", "cts"), "typescript"),
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh"), "c++"),
    **{"c": "c", "h": "c", "go": "go", "java": "java", "rs": "rust", "rb": "ruby", "php": "php", "cs": "c#"},
    **{"kt": "kotlin", "swift": "swift", "dart": "dart", "m": "objective-c", "zig": "zig"},
}
NONE = "none"

Row = Mapping[str, Any]


def normalise(rows: Iterable[Row]) -> dict[str, Any]:
    """The normalised graph of an export (`gitnexus_export.cjs`)."""
    listed = list(rows)
    raw = {row["id"]: row for row in listed if row.get("table") in KINDS}
    nodes = {id: _node(row) for id, row in raw.items() if row["table"] != "BasicBlock"}
    owners = _owners(nodes)
    edges: set[tuple[str, str, str, str]] = set()
    for id, row in raw.items():
        if row["table"] == "BasicBlock" and row.get("text"):
            nodes[id] = _node(row)
            edges.add((_owner(id, nodes[id], owners), id, "contains", ""))
    for row in listed:
        if row.get("relation") == "REACHING_DEF":
            edges |= _data(row, raw, nodes, owners)
        elif row.get("relation") in EDGES:
            edges.add((row["source"], row["target"], EDGES[row["relation"]], ""))
    edges = {edge for edge in edges if edge[0] in nodes and edge[1] in nodes}
    used = {id for id, node in nodes.items() if node["kind"] != "module"} | {end for edge in edges for end in edge[:2]}
    kept = [nodes[id] for id in sorted(used)]
    return {
        "schema": SCHEMA,
        "language": ",".join(sorted({_language(node["path"]) for node in kept})) or NONE,
        "nodes": kept,
        "edges": [edge_of(*edge) for edge in sorted(edges)],
    }


def _node(row: Row) -> dict[str, Any]:
    kind, path = KINDS[row["table"]], row["filePath"]
    # GitNexus counts the lines of definitions from 0, those of basic blocks from 1, and gives files none.
    first = 1 if kind == "module" else int(row["startLine"]) + (kind != "statement")
    last = 1 if kind == "module" else int(row["endLine"]) + (kind != "statement")
    name = {"module": path.rpartition(".")[0].replace("/", ".") or path, "statement": "block"}.get(kind) or row["name"]
    return {"id": row["id"], "kind": kind, "name": name, "path": path, "line": first, "end_line": max(first, last)}


def _language(path: str) -> str:
    suffix = path.rpartition(".")[2].lower()
    return LANGUAGES.get(suffix, suffix)


def _owners(nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Path → its functions, the innermost last."""
    owners: dict[str, list[Mapping[str, Any]]] = {}
    for node in sorted(nodes.values(), key=lambda n: (n["line"], -n["end_line"], n["id"])):
        if node["kind"] == "function":
            owners.setdefault(node["path"], []).append(node)
    return owners


def _owner(block: str, node: Mapping[str, Any], owners: Mapping[str, list[Mapping[str, Any]]]) -> str:
    """The function of a basic block `BasicBlock:<path>:<line>:<column>:<number>`, else its file."""
    functions = owners.get(node["path"], [])
    line = int(block.rsplit(":", 3)[1])
    begun = [f["id"] for f in functions if f["line"] == line]
    around = [f["id"] for f in functions if f["line"] <= line <= f["end_line"]]
    return str((begun or around or [f"File:{node['path']}"])[-1])


def _data(
    row: Row,
    raw: Mapping[str, Row],
    nodes: dict[str, dict[str, Any]],
    owners: Mapping[str, list[Mapping[str, Any]]],
) -> set[tuple[str, str, str, str]]:
    """The data edge of a reaching definition, whose reason is `<variable>|<flag>:<line defined>:<line used>`."""
    source, target = row["source"], row["target"]
    variable = (row.get("reason") or "").rpartition("|")[0]
    if source in nodes or source not in raw or not source.endswith(":0"):
        return {(source, target, "data", variable)}
    entry = _node(raw[source])
    owner = _owner(source, entry, owners)
    parameter = f"{owner}({variable})"
    nodes.setdefault(parameter, entry | {"id": parameter, "kind": "parameter", "name": variable})
    return {(owner, parameter, "contains", ""), (parameter, target, "data", variable)}
