"""The questions that an agent may ask of a program graph, and the text of each answer: one form for every kind of tool.

A target is a name (`area`, `Shape.area`, `shop.cart.total`) or a place (`src/cart.py:12`). Answers are bounded, in one
order, and say what was left out. A question that cannot be answered is a text too, with what to ask instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bench.core import nearest
from bench.core.pdg import Node, Pdg

PROTOCOL = 1
"""Of questions and answers: part of the key of every session that has them."""
MAX_TARGET = 512
MAX_LINES = 150
MAX_CHARS = 12_000
"""Of one answer; what is beyond is counted."""
MAX_LINE = 240
_PLACE = re.compile(r"(?P<path>.+):(?P<line>[1-9][0-9]{0,6})")
TARGET = "a name such as `total`, `Cart.total` or `shop.cart.total`, or a place such as `src/shop/cart.py:12`"


@dataclass(frozen=True, slots=True)
class Answer:
    """`ok` is false when the question could not be answered as it was asked."""

    text: str
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Question:
    """`about` is what an agent reads to choose it; `target` what it may be asked of."""

    about: str
    target: str
    ask: Callable[[Pdg, str], Answer]


def answer(graph: Pdg, question: str, target: str) -> Answer:
    """The answer to one of QUESTIONS. Raises nothing for any text."""
    asked = QUESTIONS.get(question)
    if asked is None:
        return Answer(f"no question {_shown(question)}; {nearest.remedy(question, QUESTIONS)}", ok=False)
    target = target.strip().removeprefix("./").removeprefix("/workspace/")
    if not target or len(target) > MAX_TARGET or not target.isprintable():
        return Answer(f"the target is empty, too long or not printable; give {asked.target}", ok=False)
    return asked.ask(graph, target)


def _definition(graph: Pdg, target: str) -> Answer:
    found = _definitions(graph, target)
    if isinstance(found, Answer):
        return found
    lines = []
    for node in found:
        lines.append(_line(graph, node))
        parts = [n for kind, away, n, _ in graph.around(node.id) if kind == "contains" and away]
        parameters = [n.name for n in parts if n.kind == "parameter"]
        if parameters:
            lines.append(f"  parameters: {', '.join(parameters)}")
        lines += [f"  {n.line}: {n.kind} {n.name}" for n in parts if n.kind in ("class", "function", "variable")]
    return _bounded(f"definitions of {target}: {len(found)}", lines)


def _callers(graph: Pdg, target: str) -> Answer:
    return _calls(graph, target, "callers", graph.callers, lambda here, other: graph.call_lines(other.id, here.id))


def _callees(graph: Pdg, target: str) -> Answer:
    return _calls(graph, target, "callees", graph.callees, lambda here, other: graph.call_lines(here.id, other.id))


def _calls(
    graph: Pdg, target: str, word: str, ask: Callable[[str], tuple[Node, ...]], at: Callable[[Node, Node], tuple[int, ...]]
) -> Answer:
    found = _definitions(graph, target)
    if isinstance(found, Answer):
        return found
    lines, count = [], 0
    for node in found:
        others = ask(node.id)
        count += len(others)
        lines.append(f"{_line(graph, node)}: {len(others) or 'none'}")
        for other in others:
            places = ", ".join(map(str, at(node, other)))
            lines.append(f"  {_line(graph, other)}" + (f"  (call at line {places})" if places else ""))
    return _bounded(f"{word} of {target}: {count}", lines)


def _slice(graph: Pdg, target: str) -> Answer:
    place = _place(graph, target)
    if place is None or isinstance(place, Answer):
        return place or Answer(
            f"a slice is taken at a place, such as src/shop/cart.py:12, and not at {_shown(target)}", ok=False
        )
    if not graph.statements(*place):
        return Answer(f"no statement of the graph at {target}; lines of comments, blanks and headers hold none", ok=False)
    found = graph.backward_slice(*place)
    return _bounded(f"backward slice of {target}, what it depends on: {len(found)}", _lines(graph, found))


def _impact(graph: Pdg, target: str) -> Answer:
    place = _place(graph, target)
    if isinstance(place, Answer):
        return place
    start = graph.statements(*place) if place else ()
    found = start or _definitions(graph, target)
    if isinstance(found, Answer):
        return found
    reached = {node for one in found for node in graph.impact(one.id)} - set(found)
    lines = _lines(graph, sorted(reached, key=lambda n: n.order))
    files = len({node.path for node in reached if node.path})
    return _bounded(f"what a change of {target} can reach: {len(reached)} in {files} file(s)", lines)


def _neighbours(graph: Pdg, target: str) -> Answer:
    place = _place(graph, target)
    if isinstance(place, Answer):
        return place
    found = (graph.statements(*place) if place else ()) or _definitions(graph, target)
    if isinstance(found, Answer):
        return found
    lines, count = [], 0
    for node in found:
        lines.append(_line(graph, node))
        for kind, away, other, label in graph.around(node.id):
            count += 1
            carried = f" [{label}]" if label and kind == "data" else ""
            lines.append(f"  {_WORDS[kind, away]}{carried} {_line(graph, other)}")
    return _bounded(f"neighbours of {target}: {count}", lines)


_WORDS = {
    ("calls", True): "calls",
    ("calls", False): "called by",
    ("contains", True): "contains",
    ("contains", False): "part of",
    ("control", True): "decides about",
    ("control", False): "decided by",
    ("data", True): "gives its value to",
    ("data", False): "takes a value from",
}

QUESTIONS: Mapping[str, Question] = {
    "definition": Question(
        "Where a module, class, function or variable is defined, and what is in it.", TARGET, _definition
    ),
    "callers": Question("What calls a function, with the lines of the calls.", TARGET, _callers),
    "callees": Question("What a function calls, library functions included.", TARGET, _callees),
    "slice": Question(
        "Everything that one line depends on, through conditions and values, across functions (a backward slice).",
        "a place such as `src/shop/cart.py:12`",
        _slice,
    ),
    "impact": Question("Everything that a change of a definition or of a line can reach.", TARGET, _impact),
    "neighbours": Question(
        "All edges at a definition or line: calls, values, conditions, containment.", TARGET, _neighbours
    ),
}


def _place(graph: Pdg, target: str) -> tuple[str, int] | Answer | None:
    """(path, line), None for a target that is a name, an answer for a place in no file of the graph."""
    found = _PLACE.fullmatch(target)
    if found is None:
        return None
    path, known = found["path"], graph.paths()
    if path in known:
        return path, int(found["line"])
    ending = [other for other in known if other.endswith(f"/{path}")]
    if len(ending) == 1:
        return ending[0], int(found["line"])
    return Answer(f"the graph has no file {_shown(path)}; {nearest.remedy(path, known)}", ok=False)


def _definitions(graph: Pdg, target: str) -> tuple[Node, ...] | Answer:
    place = _place(graph, target)
    if isinstance(place, Answer):
        return place
    found = graph.defined_at(*place) if place else graph.definitions(target)
    if found:
        return found
    bare = target.rpartition(".")[2]
    others = [graph.qualified(node.id) for node in graph.definitions(bare)] if bare != target else []
    remedy = f"there is {', '.join(others[:5])}" if others else nearest.remedy(bare, graph.names())
    return Answer(f"the graph has no definition {_shown(target)}; {remedy}", ok=False)


def _lines(graph: Pdg, nodes: Iterable[Node]) -> list[str]:
    return list(dict.fromkeys(_line(graph, node) for node in nodes))


def _line(graph: Pdg, node: Node) -> str:
    if not node.path:
        return f"(outside the project) {node.kind} {node.name}"
    last = f"-{node.end_line}" if node.end_line > node.line else ""
    if node.kind in ("statement", "parameter"):
        above = [n for kind, away, n, _ in graph.around(node.id) if kind == "contains" and not away]
        inside = f" in {graph.qualified(above[0].id)}" if above else ""
        named = node.kind if node.name == node.kind else f"{node.kind} {node.name}"
        return f"{node.path}:{node.line}{last} {named}{inside}"
    return f"{node.path}:{node.line}{last} {node.kind} {graph.qualified(node.id)}"


def _bounded(head: str, lines: list[str]) -> Answer:
    shown, size = [head], len(head)
    for line in lines[:MAX_LINES]:
        cut = line if len(line) <= MAX_LINE else line[:MAX_LINE] + "…"
        size += len(cut) + 1
        if size > MAX_CHARS:
            break
        shown.append(cut)
    left = len(lines) - (len(shown) - 1)
    if left:
        shown.append(f"… and {left} more line(s); ask about something smaller")
    return Answer("\n".join(shown))


def _shown(text: str) -> str:
    return ascii(text[:80])
