"""What a session is shown beside its workspace: skills, plugin and graph, read-only, at the places that its engine names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.core.records import Record
from bench.effects import files, graphtools, trees
from bench.effects.engines import Engine, Skill
from bench.effects.sandbox import Bind
from bench.effects.store import Store

SKILLS, PLUGIN = "skills", "plugin"
OUTPUTS = {SKILLS: "tree", PLUGIN: "plugin"}


@dataclass(frozen=True, slots=True)
class Shown:
    """Mounts, variables, and what the engine is told of them."""

    binds: tuple[Bind, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    skills: tuple[Skill, ...] = ()
    plugin: str | None = None
    graph: str | None = None
    server: tuple[str, ...] = ()


def of(inputs: Mapping[str, Record], engine: Engine, store: Store, scratch: Path) -> Shown:
    """Everything that the records of an arm give to its session."""
    record = inputs.get("skill")
    outputs = record.outputs if record else {}
    binds = []
    for role, place in engine.places.items():
        blob = outputs.get(OUTPUTS[role])
        if blob is not None:
            binds.append(Bind(trees.expand(store, blob.blob), place))
        elif role == SKILLS and engine.client:
            binds.append(Bind(_empty(scratch / "nothing"), place))
    graph = inputs.get("graph")
    tools: tuple[Bind, ...] = ()
    env: Mapping[str, str] = {}
    server: tuple[str, ...] = ()
    if graph:
        tools, env, server = _graph(graph, engine, store, scratch / "graph")
    return Shown(
        (*binds, *tools),
        env,
        _skills(record, engine, store) if SKILLS in engine.places else (),
        engine.places[PLUGIN] if PLUGIN in engine.places and OUTPUTS[PLUGIN] in outputs else None,
        graphtools.GRAPH if graph else None,
        server,
    )


def _graph(
    graph: Record, engine: Engine, store: Store, folder: Path
) -> tuple[tuple[Bind, ...], Mapping[str, str], tuple[str, ...]]:
    files.write_atomic(folder / "graph.json", store.get(graph.outputs["graph"].blob), mode=0o444)
    graphtools.place(folder)
    binds = [Bind(folder, graphtools.FOLDER)]
    if not engine.client:
        return tuple(binds), graphtools.environment(), ()
    server = graphtools.server()
    return (*binds, *server.binds), {}, server.argv


def _empty(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    return folder


def _skills(record: Record | None, engine: Engine, store: Store) -> tuple[Skill, ...]:
    if record is None or OUTPUTS[SKILLS] not in record.outputs:
        return ()
    texts = {entry.path: entry.data for entry in trees.entries_of(store.get(record.outputs[OUTPUTS[SKILLS]].blob))}
    found = []
    for skill in record.body["skills"]:
        path = f"{skill['name']}/SKILL.md"
        text = texts.get(path, b"").decode("utf-8", "replace")
        found.append(Skill(skill["name"], skill["description"], f"{engine.places[SKILLS]}/{path}", text))
    return tuple(found)
