"""Runs inside the sandbox, from standard input: starts codeanalyzer so that its result depends on the source alone.

Never imported by the harness. Its packages lie at /opt/indexer, on this process's path only: the interpreter that jedi asks
for the "ambient" environment sees the bare standard library, so a source's `import yaml` is never resolved against ours.
"""

from __future__ import annotations

import importlib
import pathlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

PACKAGES = "/opt/indexer"


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
    builder = importlib.import_module("codeanalyzer.syntactic_analysis.symbol_table_builder").SymbolTableBuilder
    _replace(builder, "build_pymodule_from_file", _readable)
    importlib.import_module("codeanalyzer.__main__").app()


if __name__ == "__main__":
    main()
