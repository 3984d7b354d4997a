"""Questions to a program-dependence graph: definitions, callers, callees, dependences of a line, backward slice, impact.

Reads the normalised form that indexers give and nothing else: no source text, no file, no indexer. Every answer
is in one order (path, line, id), whatever the order of the lists it was read from, and terminates on cyclic graphs. An agent
is given slices; `control` and `data`, one step of a slice, are for whoever studies a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.errors import IntegrityError, UsageError

SCHEMA = 1
NODE_KINDS = frozenset({"module", "class", "function", "statement", "parameter", "variable"})
EDGE_KINDS = frozenset({"contains", "calls", "control", "data"})
DEFINITIONS = frozenset({"module", "class", "function", "variable"})


@dataclass(frozen=True, slots=True)
class Node:
    """`line` and `end_line` are 1-based, inclusive; a node outside the tree (a library's function) has path "", line 0.

    `name` is the bare name of a definition, and of a statement its form (return, branch, call, …).
    """

    id: str
    kind: str
    name: str
    path: str
    line: int
    end_line: int

    @property
    def order(self) -> tuple[str, int, str]:
        """Where the node stands in every answer."""
        return (self.path, self.line, self.id)


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` contains, calls, or decides about `target`; `label`: the variable of a data edge, the lines of a call."""

    source: str
    target: str
    kind: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Dependence:
    """What a line depends on, and through which variable."""

    node: Node
    label: str | None


class Pdg:
    """The loaded graph; immutable, all queries pure. An id that is not in the graph raises UsageError."""

    def __init__(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        self.nodes: dict[str, Node] = {node.id: node for node in sorted(nodes, key=lambda n: n.order)}
        self._out: dict[tuple[str, str], list[Edge]] = {}
        self._in: dict[tuple[str, str], list[Edge]] = {}
        for edge in sorted(edges, key=lambda e: (e.source, e.target, e.kind, e.label or "")):
            self._out.setdefault((edge.kind, edge.source), []).append(edge)
            self._in.setdefault((edge.kind, edge.target), []).append(edge)
        self._named: dict[str, list[Node]] = {}
        self._statements: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            if node.kind in DEFINITIONS and node.path:
                self._named.setdefault(node.name.rpartition(".")[2], []).append(node)
            elif node.kind == "statement":
                self._statements.setdefault(node.path, []).append(node)

    def node(self, id: str) -> Node:
        """The node of that id."""
        if id not in self.nodes:
            raise UsageError(f"no node {id!r} in the graph", remedy="ask `definitions` for the ids of a name")
        return self.nodes[id]

    def definitions(self, name: str) -> tuple[Node, ...]:
        """Modules, classes, functions, variables of that name, bare (`area`) or qualified (`Shape.area`, `pkg.a.area`)."""
        candidates = self._named.get(name.rpartition(".")[2], [])
        return self._answer(n for n in candidates if f".{self.qualified(n.id)}".endswith(f".{name}"))

    def qualified(self, id: str) -> str:
        """The dotted name of a definition, from its module downwards."""
        names: list[str] = []
        seen: set[str] = set()
        while id not in seen:
            seen.add(id)
            names.append(self.node(id).name)
            above = self._in.get(("contains", id), [])
            id = above[0].source if above else id
        return ".".join(reversed(names))

    def callers(self, id: str) -> tuple[Node, ...]:
        """What calls it directly."""
        return self._answer(self.nodes[e.source] for e in self._in.get(("calls", self.node(id).id), []))

    def callees(self, id: str) -> tuple[Node, ...]:
        """What it calls directly, library functions too (their path is empty)."""
        return self._answer(self.nodes[e.target] for e in self._out.get(("calls", self.node(id).id), []))

    def call_lines(self, caller: str, callee: str) -> tuple[int, ...]:
        """The lines of the caller's file at which the call stands, as far as the indexer knows them."""
        edges = self._out.get(("calls", self.node(caller).id), [])
        labels = ",".join(e.label for e in edges if e.target == callee and e.label)
        return tuple(sorted({int(part) for part in labels.split(",") if part.isdecimal()}))

    def statements(self, path: str, line: int) -> tuple[Node, ...]:
        """The statements at a line: of those that cover it, the ones with the fewest lines (the innermost)."""
        over = [n for n in self._statements.get(path, []) if n.line <= line <= n.end_line]
        fewest = min((n.end_line - n.line for n in over), default=0)
        return self._answer(n for n in over if n.end_line - n.line == fewest)

    def control(self, path: str, line: int) -> tuple[Dependence, ...]:
        """What decides whether the line is reached."""
        return self._dependences("control", path, line)

    def data(self, path: str, line: int) -> tuple[Dependence, ...]:
        """Where the values come from that the line reads, with the variable that carries each."""
        return self._dependences("data", path, line)

    def _dependences(self, kind: str, path: str, line: int) -> tuple[Dependence, ...]:
        found = {
            Dependence(self.nodes[edge.source], edge.label)
            for statement in self.statements(path, line)
            for edge in self._in.get((kind, statement.id), [])
        }
        return tuple(sorted(found, key=lambda d: (d.node.order, d.label or "")))

    def backward_slice(self, path: str, line: int) -> tuple[Node, ...]:
        """The line's statements and everything they depend on, through any number of control and data edges."""
        start = [n.id for n in self.statements(path, line)]
        return self._answer(self.nodes[id] for id in _closure(start, self._depends_on))

    def impact(self, id: str) -> tuple[Node, ...]:
        """What a change of the node can reach, without the node itself: data dependents and all callers, transitively.

        A change inside a function is a change of the function; one of a class or module is one of all that it contains.
        """
        start = [self.node(id).id]
        start += _closure(start, self._parts)
        reached = _closure(start, self._affects)
        return self._answer(self.nodes[other] for other in reached if other not in start)

    def around(self, id: str) -> tuple[tuple[str, bool, Node, str | None], ...]:
        """Every edge at a node: (kind, whether it leads away, the node at its other end, label)."""
        self.node(id)
        out = ((e.kind, True, self.nodes[e.target], e.label) for kind in EDGE_KINDS for e in self._out.get((kind, id), []))
        into = ((e.kind, False, self.nodes[e.source], e.label) for kind in EDGE_KINDS for e in self._in.get((kind, id), []))
        return tuple(sorted({*out, *into}, key=lambda edge: (edge[0], edge[1], edge[2].order, edge[3] or "")))

    def defined_at(self, path: str, line: int) -> tuple[Node, ...]:
        """The definitions at a line: of the functions and classes that cover it the innermost, else the file's module."""
        over = [
            n
            for n in self.nodes.values()
            if n.path == path and n.kind in ("class", "function") and n.line <= line <= n.end_line
        ]
        fewest = min((n.end_line - n.line for n in over), default=0)
        inner = [n for n in over if n.end_line - n.line == fewest]
        return self._answer(inner or (n for n in self.nodes.values() if n.path == path and n.kind == "module"))

    def names(self) -> frozenset[str]:
        """The bare names of its definitions."""
        return frozenset(self._named)

    def paths(self) -> frozenset[str]:
        """The files that the graph knows."""
        return frozenset(n.path for n in self.nodes.values() if n.path)

    def _depends_on(self, id: str) -> Iterator[str]:
        for kind in ("control", "data"):
            yield from (e.source for e in self._in.get((kind, id), []))

    def _parts(self, id: str) -> Iterator[str]:
        if self.nodes[id].kind in ("module", "class"):
            yield from (e.target for e in self._out.get(("contains", id), []))

    def _affects(self, id: str) -> Iterator[str]:
        yield from (e.target for e in self._out.get(("data", id), []))
        yield from (e.source for e in self._in.get(("calls", id), []))
        if self.nodes[id].kind in ("statement", "parameter"):
            above = (e.source for e in self._in.get(("contains", id), []))
            yield from (parent for parent in above if self.nodes[parent].kind == "function")

    def _answer(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        return tuple(sorted(set(nodes), key=lambda n: n.order))


def _closure(start: Sequence[str], step: Callable[[str], Iterator[str]]) -> set[str]:
    seen: set[str] = set()
    pending = list(start)
    while pending:
        id = pending.pop()
        if id not in seen:
            seen.add(id)
            pending.extend(step(id))
    return seen


def load(graph: Mapping[str, Any]) -> Pdg:
    """Read the normalised form. Raises IntegrityError naming the first thing that is not as it must be."""
    if graph.get("schema") != SCHEMA:
        raise IntegrityError(f"graph schema {graph.get('schema')!r}, this version reads {SCHEMA}")
    try:
        nodes = [Node(n["id"], n["kind"], n["name"], n["path"], n["line"], n["end_line"]) for n in graph["nodes"]]
        edges = [Edge(e["from"], e["to"], e["kind"], e.get("label")) for e in graph["edges"]]
    except (AttributeError, KeyError, TypeError):
        raise IntegrityError("not a graph (a field is missing or has the wrong form)") from None
    ids: set[str] = set()
    for node in nodes:
        _check_node(node, ids)
        ids.add(node.id)
    for edge in edges:
        if edge.kind not in EDGE_KINDS:
            raise IntegrityError(f"an edge of unknown kind {edge.kind!r}", where=edge.source)
        if edge.source not in ids or edge.target not in ids:
            raise IntegrityError("an edge without a node at both ends", where=f"{edge.source} -> {edge.target}")
    return Pdg(nodes, edges)


def _check_node(node: Node, before: set[str]) -> None:
    if not isinstance(node.id, str) or node.id in before:
        raise IntegrityError("a node's id is no text, or occurs twice", where=repr(node.id))
    if node.kind not in NODE_KINDS:
        raise IntegrityError(f"a node of unknown kind {node.kind!r}", where=node.id)
    if not isinstance(node.path, str) or node.path.startswith("/") or ".." in node.path.split("/"):
        raise IntegrityError("a node's path leaves the tree", where=node.id)
    if not 0 <= node.line <= node.end_line:
        raise IntegrityError("a node's lines are out of order", where=node.id)


def marked(graph: Any, markers: Sequence[str]) -> tuple[str, ...]:
    """The strings of a graph (any JSON value, keys included) that hold one of the markers; empty is the proof.

    Plain substrings, case counts; an empty marker names nothing and is passed over.
    """
    wanted = [marker for marker in markers if marker]
    return tuple(sorted({text for text in _strings(graph) if any(marker in text for marker in wanted)}))


def _strings(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)
