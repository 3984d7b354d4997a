"""graph:<source>: the program-dependence graph of a template, normalised, with no trace of the harness in it.

A file that carries a harness marker is left out before indexing; afterwards the finished graph is searched for every marker,
and one that remains ends the step. Time-outs and crashes of the indexer raise: there is no partial graph.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from bench.core import digest, pdg
from bench.effects import indexers, trees
from bench.effects.context import Context, Job, Made
from bench.effects.trees import Entry
from bench.errors import StepFailed

KIND = "graph"


def make(job: Job, context: Context) -> Made:
    """params {indexer, identity, markers, seconds}; inputs {template} → body {language, nodes, edges, …}; outputs {graph}.

    Raises StepFailed when the indexer fails or a marker is left, MissingPart when the indexer is not installed.
    """
    indexer = indexers.create(job.params["indexer"])
    if indexer.identity() != job.params["identity"]:
        raise StepFailed("the indexer changed while doit ran", where=job.params["indexer"], remedy="run doit again")
    packed = context.store.get(job.inputs["template"].outputs["tree"].blob)
    markers = job.params["markers"]
    shown, left_out = _without_marked(trees.entries_of(packed), markers)
    tree = context.scratch / "tree"
    trees.unpack(trees.pack(shown), tree)
    context.log(f"indexing {len(shown)} files, {len(left_out)} left out")
    snapshot = indexer.index(tree, context.scratch, seconds=job.params["seconds"], cancel=context.cancel)
    graph = snapshot.graph
    pdg.load(graph)
    remaining = pdg.marked(graph, markers)
    if remaining:
        raise StepFailed(f"{len(remaining)} strings of the graph carry a harness marker", where=remaining[0][:200])
    body = {
        "language": graph["language"],
        "nodes": len(graph["nodes"]),
        "edges": len(graph["edges"]),
        "empty": not graph["nodes"],
        "reason": snapshot.reason,
        "unparsed": graph.get("unparsed", []),
        "left_out": left_out,
    }
    return Made(body, {"graph": context.store.put(digest.canonical(graph))})


def _without_marked(entries: Sequence[Entry], markers: Sequence[str]) -> tuple[list[Entry], list[str]]:
    """The entries that carry no marker in path or content, and the paths of the others."""
    wanted = [marker.encode() for marker in markers if marker]
    shown, left_out = [], []
    for entry in entries:
        path = os.fsencode(entry.path)
        if any(marker in path or marker in entry.data for marker in wanted):
            left_out.append(path.decode("utf-8", "backslashreplace"))
        else:
            shown.append(entry)
    return shown, left_out
