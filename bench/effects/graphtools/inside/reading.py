"""The snapshot, read once when it is first asked; a snapshot that cannot be read is an answer that says so."""

from __future__ import annotations

import functools
import json

from bench.core import graph_queries, pdg
from bench.core.graph_queries import Answer
from bench.errors import IntegrityError

GRAPH = "/opt/graph/graph.json"


@functools.cache
def _graph() -> pdg.Pdg:
    with open(GRAPH, encoding="utf-8") as file:
        return pdg.load(json.load(file))


def answer(question: str, target: str) -> Answer:
    """The answer to a question about the snapshot."""
    try:
        graph = _graph()
    except (OSError, ValueError, IntegrityError) as error:
        return Answer(f"the graph cannot be read: {type(error).__name__}", ok=False)
    if not graph.nodes:
        return Answer("the graph is empty: there was nothing to index in this project", ok=False)
    return graph_queries.answer(graph, question, target)
