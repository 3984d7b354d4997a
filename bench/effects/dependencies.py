"""A task's dependencies as they are mounted: the assets tree, expanded, with bytecode beside its sources.

The tree in the store holds no bytecode, so that it is the same anywhere; without any, every run of a test runner would
compile all of it again (the mount is read-only), which costs more than most test suites. Nothing of the tree is executed.
"""

from __future__ import annotations

import py_compile
import sys
import warnings
from pathlib import Path

from bench.effects import trees
from bench.effects.store import Store
from bench.effects.trees import Entry

VARIANT = f".{sys.implementation.cache_tag}-1"
"""Part of the expanded tree's name: bytecode fits one interpreter, and the sandbox has the one of this process."""

MOUNT = "mount/"
"""Role of a mounted tree among the outputs of the assets: `mount/<path in the workspace>`."""


def expanded(store: Store, blob: str) -> Path:
    """The directory of a packed assets tree, made once per content and interpreter, shared, only to be read."""
    return trees.expand(store, blob, _compile, variant=VARIANT)


def _compile(root: Path, entries: list[Entry]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a dependency's author wrote is no news for whoever runs this
        _compile_each(root, entries)


def _compile_each(root: Path, entries: list[Entry]) -> None:
    for entry in entries:
        if entry.mode == "120000" or not entry.path.endswith(".py"):
            continue
        path = root / entry.path
        try:
            # The tree never changes, so bytecode need not be checked against its source. `dfile` keeps the host's path
            # out of it; Python puts the real one in when it loads.
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(str(path), dfile=path.name, doraise=True, quiet=2, invalidation_mode=mode)
        except (py_compile.PyCompileError, ValueError, RecursionError, OSError):
            continue  # templates, and sources of other versions: Python would not import them either
