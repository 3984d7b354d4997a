"""Runs inside the sandbox, from standard input: starts codeanalyzer so that its result depends on the source alone.

Never imported by the harness. Its packages lie at /opt/indexer, on this process's path only: the interpreter that jedi asks
for the "ambient" environment sees the bare standard library, so a source's `import yaml` is never resolved against ours.
"""

from __future__ import annotations

import importlib
import pathlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any

PACKAGES = "/opt/indexer"
UNORDERED = (
    "jedi.api",
    "jedi.inference.base_value",
    "jedi.inference.references",
    "jedi.inference.utils",
    "jedi.inference.value.dynamic_arrays",
)
"""Modules of jedi that keep values and names in sets."""


class Ordered(Set[Any]):
    """A set that is iterated in the order of insertion.

    jedi's values hash by address. Which of several candidates it reports, and which it never reaches before its limits on
    recursion and execution, follows the order of its sets, and so would change from one run to the next (tried).
    """

    __slots__ = ("_hashed", "_items")

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items = dict.fromkeys(items)
        self._hashed: int | None = None

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __or__(self, other: Iterable[Any]) -> Ordered:
        return Ordered((*self._items, *other))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Set) and self._items.keys() == other)

    def __hash__(self) -> int:
        if self._hashed is None:
            self._hashed = hash(frozenset(self._items))
        return self._hashed

    def add(self, item: Any) -> None:
        """Insert, at the end if it is new. Never after the set was hashed, as with any set."""
        self._items[item] = None


def _no_daemons() -> None:
    # codeanalyzer imports ray at its top and, without --ray, never calls it. A stand-in keeps 300 MB out of the sandbox,
    # and makes sure that no cluster can be started.
    ray: Any = types.ModuleType("ray")
    ray.remote = lambda function: function
    ray.is_initialized = lambda: False
    sys.modules["ray"] = ray


def _in_order(plain: Callable[..., Any]) -> Callable[..., Iterator[pathlib.Path]]:
    def rglob(self: pathlib.Path, *args: Any, **kwargs: Any) -> Iterator[pathlib.Path]:
        return iter(sorted(plain(self, *args, **kwargs)))

    return rglob


def _readable(build: Callable[..., Any]) -> Callable[..., Any]:
    """One docstring with a lone surrogate would end the whole run when the result is written: it is escaped instead."""

    def build_module(self: Any, path: Any) -> Any:
        module = build(self, path)
        try:
            module.model_dump_json()
        except ValueError:
            return type(module).model_validate(_escaped(module.model_dump()))
        return module

    return build_module


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list | tuple) else value


def _replace(owner: Any, name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    setattr(owner, name, wrap(getattr(owner, name)))


def main() -> None:
    """Files are read in order, not as the disk lists them: where two declare the same dotted name, the last one wins."""
    sys.path.insert(0, PACKAGES)
    _no_daemons()
    _replace(pathlib.Path, "rglob", _in_order)
    for name in UNORDERED:
        vars(importlib.import_module(name)).update(set=Ordered, frozenset=Ordered)
    builder = importlib.import_module("codeanalyzer.syntactic_analysis.symbol_table_builder").SymbolTableBuilder
    _replace(builder, "build_pymodule_from_file", _readable)
    importlib.import_module("codeanalyzer.__main__").app()


if __name__ == "__main__":
    main()
