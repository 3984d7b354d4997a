"""Imports go one way, lazy ones included: errors, layout ← core ← effects ← steps ← make ← dodo.py."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import bench

HOME = Path(bench.__file__).parent
LAYERS = {"errors": 0, "layout": 0, "schemas": 0, "core": 1, "effects": 2, "steps": 3, "make": 4, "__main__": 5}
SEAM = {"bench.core.records", "bench.core.digest"}
"""All of core that effects import: they carry, they do not judge."""
_INSIDE = "runs in the sandbox of a session, where the query module lies beside it; no effect of ours imports it"
ALLOWED: dict[tuple[str, str], str] = {
    ("bench.effects.graphtools.inside.command", "bench.core.graph_queries"): _INSIDE,
    ("bench.effects.graphtools.inside.reading", "bench.core.graph_queries"): _INSIDE,
    ("bench.effects.graphtools.inside.reading", "bench.core.pdg"): _INSIDE,
    ("bench.effects.graphtools.inside.server", "bench.core.graph_queries"): _INSIDE,
    ("bench.effects.gateway.routes", "bench.core.model_routes"): "suites and gateway must agree whose model an id is",
    ("bench.effects.model_keys", "bench.core.model_routes"): "both engines take their keys from the same variables",
    ("bench.effects.engines.upstream", "bench.core.model_routes"): "provider= means the same to both engines",
    ("bench.effects.engines.skill_use", "bench.core.skills"): "what the prompt holds of a skill proves no reading of it",
    (
        "bench.effects.sessions.grounds",
        "bench.core.overrides_sandbox",
    ): "one name of the sandbox that is none, for key and record",
    ("bench.effects.gateway.ledger", "bench.core.outages"): "traffic says what failed in the words that the breaker knows",
    ("bench.effects.engines.upstream", "bench.core.outages"): "the loop says what failed in the words of the gateway",
    ("bench.effects.engines.claude.evidence", "bench.core.outages"): "the client's events mean what the gateway's do",
}
"""(effects module, core module) → why it may all the same."""
PURE = {
    "os",
    "io",
    "subprocess",
    "socket",
    "time",
    "datetime",
    "random",
    "threading",
    "tempfile",
    "shutil",
    "pathlib",
    "asyncio",
}
"""What `core` has no use for: it is pure. `datetime` and `pathlib` would be arithmetic, but invite a clock and a disk."""
PURE_ALLOWED: dict[tuple[str, str], str] = {
    ("bench.core.calendar", "datetime"): "reads the stamps that it is given, and adds days to them",
}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(HOME.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted(HOME.rglob("*.py"))}


@cache
def imports(module: str) -> frozenset[str]:
    """Every module that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found - {module})


def ours(module: str) -> set[str]:
    return {name for name in imports(module) if name in MODULES}


def layer(module: str) -> int:
    parts = module.split(".")
    return LAYERS[parts[1]] if len(parts) > 1 else 0


def test_no_import_goes_up():
    assert [(a, b) for a in MODULES for b in sorted(ours(a)) if layer(b) > layer(a)] == []


def test_there_is_no_cycle():
    done: set[str] = set()
    for start in MODULES:
        trail: list[str] = []
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            module, leaving = stack.pop()
            if leaving:
                done.add(trail.pop())
            elif module in trail:
                pytest.fail(" → ".join([*trail[trail.index(module) :], module]))
            elif module not in done:
                trail.append(module)
                stack.append((module, True))
                stack += [(name, False) for name in sorted(ours(module)) if name != "bench"]


def test_effects_know_of_core_only_records_and_digests():
    found = {
        (module, name)
        for module in MODULES
        if module.startswith("bench.effects")
        for name in ours(module)
        if name.startswith("bench.core.") and name not in SEAM
    }
    assert found == set(ALLOWED), "an exception is a line in ALLOWED with its reason"


def test_no_step_imports_a_step():
    steps = {module for module in MODULES if module.startswith("bench.steps.")}
    assert [(a, b) for a in sorted(steps) for b in sorted(ours(a)) if b in steps] == []


def test_core_touches_no_world():
    found = {
        (module, name.split(".")[0])
        for module in MODULES
        if module.startswith("bench.core")
        for name in imports(module)
        if name.split(".")[0] in PURE
    }
    assert found == set(PURE_ALLOWED)


SPELLED: dict[tuple[str, str], str] = {
    ("bench.make.stamp", "artifacts/.stamp"): "the stamp imports nothing of ours",
    ("bench.make.stamp", "artifacts/store/blobs/"): "the stamp imports nothing of ours",
}
"""(module, text) → why it may spell a path of a workspace."""


def test_paths_of_a_workspace_are_spelled_in_one_module():
    spelled = re.compile(r"(?:artifacts|corpus|oracles)/")
    found = set()
    for module, path in MODULES.items():
        tree = ast.parse(path.read_bytes())
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        found |= {(module, node.value) for node in texts if id(node) not in prose and spelled.match(node.value)}
    assert {(module, text) for module, text in found if module != "bench.layout"} == set(SPELLED)


def test_every_module_of_a_layer_is_in_a_known_layer():
    assert {module.split(".")[1] for module in MODULES if module != "bench"} <= set(LAYERS)
    assert sys.version_info >= (3, 11)
