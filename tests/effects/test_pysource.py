"""Workers look at code side by side, and a step must not fail of it."""

from __future__ import annotations

import ast
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.effects import pysource

HOME = Path(pysource.__file__).parents[1]


class Litter:
    """A cycle that lets another thread go on when it is collected, wherever that happens."""

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        time.sleep(0)


def littered(source: bytes) -> ast.Module:
    for _ in range(50):
        Litter()
    return pysource.tree(source)


def test_workers_parse_side_by_side() -> None:
    sources = [path.read_bytes() for path in sorted(HOME.rglob("*.py"))[:80]]
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(littered, sources * 4))
    assert all(isinstance(tree, ast.Module) for tree in trees)
