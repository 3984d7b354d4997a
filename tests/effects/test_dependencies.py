"""Dependencies are mounted with bytecode that Python takes without a look at the source."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from bench.effects import dependencies, trees
from bench.effects.sandbox import Limits, Spec, runner
from bench.effects.store import open_store
from bench.effects.trees import Entry

FILES = [
    Entry("lib/__init__.py", "100644", b"VALUE = 1\n"),
    Entry("lib/old.py", "100644", b"print 'python 2'\n"),
    Entry("lib/link.py", "120000", b"__init__.py"),
    Entry("lib/escape.py", "100644", b"X = '\\d'\n"),
]


def test_bytecode_is_made_once_and_used_inside(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    blob = store.put(trees.pack(FILES)).blob
    root = dependencies.expanded(store, blob)
    assert dependencies.expanded(store, blob) == root
    made = Path(importlib.util.cache_from_source(str(root / "lib/__init__.py")))
    assert made.exists()
    assert str(tmp_path).encode() not in made.read_bytes()
    assert sorted(p.name.split(".")[0] for p in made.parent.iterdir()) == ["__init__", "escape"]
    script = "import lib, sys; print(lib.VALUE, lib.__file__, lib.__cached__)"
    done = runner.run(Spec(("python3", "-v", "-c", script), dependencies=root, cwd="/tmp", limits=Limits(seconds=30)))
    assert done.stdout.startswith(b"1 /opt/")
    assert b"lib/__pycache__/__init__" in done.stdout
    assert b"code object from" in done.stderr
