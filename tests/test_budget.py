"""Sizes: a file that outgrows them is two files. An exception is a line here, with its reason."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

import bench

HOME = Path(bench.__file__).parent
FILES = sorted(HOME.rglob("*.py"))
FILE, FILE_HARD, FUNCTION, PARAMETERS, CORE_MEDIAN, DODO = 300, 350, 50, 6, 150, 180

LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}
WIDE_FUNCTIONS: dict[str, str] = {}


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def name(path: Path) -> str:
    return path.relative_to(HOME).as_posix()


def functions() -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    found = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.append((f"{name(path)}:{node.name}", node))
    return found


def test_files():
    assert {name(path): lines(path) for path in FILES if lines(path) > FILE_HARD} == {}
    assert {name(path) for path in FILES if lines(path) > FILE} == set(LONG_FILES)


def test_functions():
    long = {where for where, node in functions() if (node.end_lineno or 0) - node.lineno + 1 > FUNCTION}
    assert long == set(LONG_FUNCTIONS)


def test_parameters():
    wide = set()
    for where, node in functions():
        given = node.args
        own = [arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs) if arg.arg not in ("self", "cls")]
        if len(own) > PARAMETERS:
            wide.add(where)
    assert wide == set(WIDE_FUNCTIONS)


def test_core_is_made_of_small_files():
    core = [lines(path) for path in FILES if path.is_relative_to(HOME / "core") and path.name != "__init__.py"]
    assert statistics.median(core) <= CORE_MEDIAN


def test_dodo_is_a_page():
    assert lines(HOME.parent / "dodo.py") <= DODO
