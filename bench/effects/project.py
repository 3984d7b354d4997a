"""What a source calls itself: the distribution names in its metadata, read as data. Nothing of the source is run."""

from __future__ import annotations

import ast
import configparser
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator
from email.parser import HeaderParser
from typing import Any

from bench.effects import pysource
from bench.effects.trees import Entry

MOST = 1 << 20
"""Bytes of a file of metadata; a larger one is none."""
_UNREADABLE = (ValueError, SyntaxError, RecursionError, MemoryError, configparser.Error)


def names(entries: Iterable[Entry]) -> set[str]:
    """Those of pyproject.toml, setup.cfg, setup.py and PKG-INFO at the root; a file that cannot be read names nothing."""
    found: set[str] = set()
    for entry in entries:
        read = _READERS.get(entry.path)
        if read is None or entry.mode == "120000" or len(entry.data) > MOST:
            continue
        try:
            said = list(read(entry.data.decode("utf-8-sig")))
            found |= {name.strip() for name in said if isinstance(name, str) and name.strip()}
        except _UNREADABLE:
            continue
    return found


def _pyproject(text: str) -> Iterator[Any]:
    read = tomllib.loads(text)
    tool = read.get("tool")
    for table in (read.get("project"), *(tool.get(name) for name in ("poetry", "flit") if isinstance(tool, dict))):
        if isinstance(table, dict):
            yield table.get("name")


def _setup_cfg(text: str) -> Iterator[Any]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    yield parser.get("metadata", "name", fallback=None)


def _setup_py(text: str) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what its author wrote is no news for whoever runs this
        tree = pysource.tree(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and "setup" in (getattr(node.func, "id", None), getattr(node.func, "attr", None)):
            for given in node.keywords:
                if given.arg == "name" and isinstance(given.value, ast.Constant):
                    yield given.value.value


def _pkg_info(text: str) -> Iterator[Any]:
    yield HeaderParser().parsestr(text, headersonly=True).get("Name")


_READERS: dict[str, Callable[[str], Iterator[Any]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "PKG-INFO": _pkg_info,
}
