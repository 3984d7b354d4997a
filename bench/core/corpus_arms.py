"""Arms: those of corpus/arms.yaml by name, those written out in a suite, and what an arm may combine.

A candidate runs as its incumbent with an overlay, so it takes over whatever it does not say. Engines are names here; whether
one is installed is asked by what runs it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from bench.core import digest, names, nearest, schema, yamlmap
from bench.core.names import shown
from bench.core.numbers import plain_numbers
from bench.core.suite import ENGINES, FREE_ENGINES, Arm
from bench.core.yamlmap import Node, place
from bench.errors import CorpusError

PARAMS_BYTES = 16 << 10
_INHERITED = ("engine", "skills", "expects", "graph", "params", "only")


def library(text: str | None, path: str, *, validated: bool = False) -> dict[str, tuple[Node, str]]:
    """Name → (node, file) of every arm in an arms file; empty without one. Raises CorpusError."""
    if text is None:
        return {}
    document = yamlmap.load(text, path)
    if not validated:
        schema.check(document, "arms", path)
    items = document.value["arms"].value
    names.distinct((_name(item, path), place(path, item.value["name"].at)) for item in items)
    return {item.value["name"].value: (item, path) for item in items}


def build(node: Node, path: str, known: dict[str, tuple[Node, str]], arms_path: str) -> tuple[Arm, ...]:
    """The arms of a suite file, in its order: names from `known`, or mappings. Raises CorpusError."""
    chosen = [_look_up(item, path, known, arms_path) for item in node.value]
    names.distinct((_name(n, p), place(path, item.at)) for (n, p), item in zip(chosen, node.value, strict=True))
    by_name = {n.value["name"].value: (n, p) for n, p in chosen}
    arms = tuple(_arm(n, p, by_name) for n, p in chosen)
    _no_twins(arms, path, node)
    return arms


def _look_up(item: Node, path: str, known: dict[str, tuple[Node, str]], arms_path: str) -> tuple[Node, str]:
    if isinstance(item.value, dict):
        return item, path
    if item.value in known:
        return known[item.value]
    raise CorpusError(
        f"arms: there is no arm {shown(item.value)} in {arms_path}",
        where=place(path, item.at),
        remedy=nearest.remedy(item.value, known),
    )


def _name(node: Node, path: str) -> str:
    return names.check(node.value["name"].value, place(path, node.value["name"].at))


def _arm(node: Node, path: str, by_name: dict[str, tuple[Node, str]]) -> Arm:
    role = node.value["role"].value
    of = _incumbent(node, path, by_name) if role == "candidate" else None
    if of is None and node.get("of"):
        raise CorpusError(f"of: a {role} has no incumbent", where=place(path, node.value["of"].at), remedy="remove it")
    if of and node.get("only"):
        raise CorpusError(
            "only: a candidate runs the tasks of its incumbent", where=place(path, node.value["only"].at), remedy="remove it"
        )
    base = by_name[of][0] if of else node
    said = {key: node.get(key) or base.get(key) for key in _INHERITED}
    arm = Arm(
        name=_name(node, path),
        role=role,
        engine=_engine(said["engine"], node, path),
        skills=tuple(names.check_path(i.value, place(path, i.at)) for i in (said["skills"].value if said["skills"] else ())),
        overlay=_overlay(node, path),
        of=of,
        expects=said["expects"].value if said["expects"] else None,
        graph=said["graph"].value if said["graph"] else False,
        replica=int(node.value["replica"].value) if node.get("replica") else None,
        params=_params(said["params"], path),
        only=frozenset(item.value for item in said["only"].value) if said["only"] else None,
    )
    _check(arm, node, path)
    return arm


def _incumbent(node: Node, path: str, by_name: dict[str, tuple[Node, str]]) -> str:
    of = node.get("of")
    if of is None:
        raise CorpusError(
            f"the candidate {shown(_name(node, path))} has no 'of'",
            where=place(path, node.at),
            remedy="name its incumbent arm: of: incumbent",
        )
    incumbents = [name for name, (n, _p) in by_name.items() if n.value["role"].value == "incumbent"]
    if of.value not in incumbents:
        raise CorpusError(
            f"of: the suite has no incumbent arm {shown(of.value)}",
            where=place(path, of.at),
            remedy=nearest.remedy(of.value, incumbents),
        )
    name: str = of.value
    return name


def _engine(node: Node | None, arm: Node, path: str) -> str:
    if node is None:
        raise CorpusError("the key 'engine' is missing", where=place(path, arm.at), remedy=f"known: {', '.join(ENGINES)}")
    name: str = node.value
    return name


def _overlay(node: Node, path: str) -> str | None:
    overlay = node.get("overlay")
    return names.check_path(overlay.value, place(path, overlay.at)) if overlay else None


def _params(node: Node | None, path: str) -> dict[str, Any]:
    if node is None:
        return {}
    found: dict[str, Any] = plain_numbers(node.plain())
    if len(digest.canonical(found)) > PARAMS_BYTES:
        raise CorpusError(f"params: larger than {PARAMS_BYTES} bytes", where=place(path, node.at))
    return found


def _check(arm: Arm, node: Node, path: str) -> None:
    where = place(path, node.at)
    free = arm.engine in FREE_ENGINES
    if arm.role == "calibration" and not free:
        raise CorpusError(
            f"the calibration arm {shown(arm.name)} has the engine {arm.engine!r}", where=where, remedy="use nop or gold"
        )
    if free and (arm.skills or arm.overlay or arm.expects or arm.graph or arm.params):
        raise CorpusError(f"the engine {arm.engine!r} of arm {shown(arm.name)} uses no skills, graph or params", where=where)
    skills = [skill.rpartition("/")[2] for skill in arm.skills]
    if arm.overlay and not skills:
        raise CorpusError(
            f"the arm {shown(arm.name)} has an overlay, but no skills to lay it over", where=where, remedy="add skills:"
        )
    if len({skill.casefold() for skill in skills}) < len(skills):
        raise CorpusError(f"two skills of the arm {shown(arm.name)} have the same name", where=where, remedy="rename one")
    if arm.expects and not arm.overlay and arm.expects not in skills:
        raise CorpusError(
            f"expects: the arm {shown(arm.name)} has no skill {shown(arm.expects)}",
            where=where,
            remedy=nearest.remedy(arm.expects, skills),
        )


def _no_twins(arms: Iterable[Arm], path: str, node: Node) -> None:
    seen: dict[bytes, str] = {}
    for arm, item in zip(arms, node.value, strict=True):
        same = replace(arm, name="", of=None)
        said = digest.canonical([same.role, same.engine, same.skills, same.overlay, same.expects, same.graph, same.replica])
        said += digest.canonical(dict(same.params))
        if said in seen:
            raise CorpusError(
                f"the arms {shown(seen[said])} and {shown(arm.name)} are the same, and would be one piece of evidence",
                where=place(path, item.at),
                remedy="give one of them a replica number",
            )
        seen[said] = arm.name
