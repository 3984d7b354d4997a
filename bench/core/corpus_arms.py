"""Arms: those of corpus/arms.yaml by name, those written out in a suite, and what an arm may combine.

`{use: NAME, …}` is an arm of arms.yaml with other settings. A candidate runs as its incumbent with an overlay, so it takes
over whatever it does not say. Engines are names here; whether one is installed is asked by what runs it.
"""

from __future__ import annotations

from typing import Any

from bench.core import arm_rules, digest, names, nearest, overlay_arms, schema, yamlmap
from bench.core.names import shown
from bench.core.numbers import plain_numbers
from bench.core.suite import CANDIDATE, ENGINES, INCUMBENT, Arm
from bench.core.yamlmap import Node, place
from bench.errors import CorpusError

PARAMS_BYTES = 16 << 10
_INHERITED = ("engine", "skills", "phases", "expects", "graph", "skill_tool", "plugin", "params", "only")


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
    arms = {arm.name: arm for arm in (_arm(n, p, by_name) for n, p in chosen)}
    for arm, (said, file) in zip(arms.values(), chosen, strict=True):
        if arm.overlay and arm.of and (key := overlay_arms.beside(arm, arms[arm.of])):
            what, remedy = overlay_arms.differs(arm, key)
            raise CorpusError(what, where=place(file, said.key_at(key)), remedy=remedy)
    return tuple(arms.values())


def _look_up(item: Node, path: str, known: dict[str, tuple[Node, str]], arms_path: str) -> tuple[Node, str]:
    if not isinstance(item.value, dict):
        return _known(item, path, known, arms_path)
    if "use" not in item.value:
        return item, path
    base, _file = _known(item.value["use"], path, known, arms_path)
    said = {key: node for key, node in item.value.items() if key != "use"}
    # Faults in what the arm of the library says are named at the place that uses it.
    merged = {key: Node(node.value, item.at, node.keys) for key, node in base.value.items()} | said
    return Node(merged, item.at, item.keys), path


def _known(item: Node, path: str, known: dict[str, tuple[Node, str]], arms_path: str) -> tuple[Node, str]:
    if item.value in known:
        return known[item.value]
    where = place(path, item.at)
    if not known:
        what = f"arms: there is no arm {shown(item.value)}: {arms_path} is missing or names none"
        raise CorpusError(what, where=where, remedy="write the arm there, or out in full here")
    remedy = nearest.remedy(item.value, known)
    raise CorpusError(f"arms: there is no arm {shown(item.value)} in {arms_path}", where=where, remedy=remedy)


def _name(node: Node, path: str) -> str:
    return names.check(node.value["name"].value, place(path, node.value["name"].at))


def _arm(node: Node, path: str, by_name: dict[str, tuple[Node, str]]) -> Arm:
    role = node.value["role"].value
    of = _incumbent(node, path, by_name) if role == CANDIDATE else None
    if of is None and node.get("of"):
        raise CorpusError(f"of: a {role} has no incumbent", where=place(path, node.value["of"].at), remedy="remove it")
    if of and node.get("only"):
        raise CorpusError(
            "only: a candidate runs the tasks of its incumbent", where=place(path, node.value["only"].at), remedy="remove it"
        )
    base = by_name[of][0] if of else node
    said = {key: node.get(key) or base.get(key) for key in _INHERITED}
    phases = tuple(item.value for item in said["phases"].value) if said["phases"] else ("work",)
    plugin = {key: n.value for key, n in said["plugin"].value.items()} if said["plugin"] else {}
    arm = Arm(
        name=_name(node, path),
        role=role,
        engine=_engine(said["engine"], node, path),
        skills=tuple(names.check_path(i.value, place(path, i.at)) for i in (said["skills"].value if said["skills"] else ())),
        overlay=_overlay(node, path),
        of=of,
        phases=phases,
        expects=_expects(said["expects"], phases),
        graph=said["graph"].value if said["graph"] else False,
        skill_tool=said["skill_tool"].value if said["skill_tool"] else True,
        takes_plugin=said["plugin"] is not None,
        plugin=plugin.get("dir"),
        plugin_version=plugin.get("version"),
        replica=int(node.value["replica"].value) if node.get("replica") else None,
        params=_params(said["params"], path),
        only=frozenset(item.value for item in said["only"].value) if said["only"] else None,
    )
    arm_rules.check(arm, place(path, node.at))
    return arm


def _expects(node: Node | None, phases: tuple[str, ...]) -> dict[str, str]:
    """By phase; a plain name is what the last phase must use."""
    if node is None:
        return {}
    if isinstance(node.value, str):
        return {phases[-1]: node.value}
    return {phase: item.value for phase, item in node.value.items()}


def _incumbent(node: Node, path: str, by_name: dict[str, tuple[Node, str]]) -> str:
    of = node.get("of")
    if of is None:
        raise CorpusError(
            f"the candidate {shown(_name(node, path))} has no 'of'",
            where=place(path, node.at),
            remedy="name its incumbent arm: of: incumbent",
        )
    incumbents = [name for name, (n, _p) in by_name.items() if n.value["role"].value == INCUMBENT]
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
