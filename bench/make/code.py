"""Digests of code: the import closure of a step's module, with the versions of the libraries that it uses.

The import graph is the rebuild graph: editing `bench/core/medians.py` re-makes aggregates and what follows, nothing else.
Every `import` statement of our own modules counts, lazy ones too, and every entry of a registry. What is read as data counts
with the folder that holds it: templates, schemas, prompts, and the programs that run inside a sandbox. Each file is parsed
once and remembered by its stat.
"""

from __future__ import annotations

import ast
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from bench.core import digest
from bench.effects import pysource

PACKAGE = "bench"
ENTRY = re.compile(rf"{PACKAGE}(\.\w+)+(:\w+)?")
"""A registry's entry, `module:name`, is an import that happens when it is used."""


class Code:
    """Closures over the package that contains this module."""

    def __init__(self, memory: dict[str, Any] | None = None) -> None:
        self.home = Path(__file__).resolve().parent.parent
        self.memory = {} if memory is None else memory
        """File → [stat, digest, imports], from an earlier process."""
        self.learned = False
        """Whether `memory` has grown."""
        self._closures: dict[str, str] = {}
        self._paths: dict[str, Path | None] = {}
        self._read: dict[Path, tuple[str, list[str]]] = {}
        self._folders: dict[Path, list[Path]] = {}
        self._versions: dict[str, str | None] = {}
        """What closures share is looked at once in a process."""

    def closure(self, module: str) -> str:
        """Digest of a module's closure; independent of where the package is installed."""
        if module not in self._closures:
            self._closures[module] = digest.of("assay/code/1", self.listing(module))
        return self._closures[module]

    def listing(self, module: str) -> list[list[str]]:
        """`[name, digest or version]` of every module, data file and library in the closure, sorted."""
        seen: dict[str, str] = {}
        libraries: set[str] = set()
        pending = [module]
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            path = self._path(name)
            if path is None:
                continue
            seen[name], imports = self._file(path)
            for item in imports:
                if item.split(".", 1)[0] == PACKAGE:
                    pending.append(item)
                else:
                    libraries.add(item.split(".", 1)[0])
        bare = (self.home, self.home / "core", self.home / "effects", self.home / "steps")
        for folder in sorted({p.parent for n in seen if (p := self._path(n))}):
            if folder.is_relative_to(self.home) and folder not in bare:
                for data in self._data(folder):
                    seen[data.relative_to(self.home).as_posix()] = self._file(data)[0]
        listed = [[name, value] for name, value in seen.items()]
        listed += [[f"lib:{name}", version] for name in libraries if (version := self._version(name))]
        return sorted(listed)

    def _version(self, library: str) -> str | None:
        if library not in self._versions:
            self._versions[library] = _version(library)
        return self._versions[library]

    def _data(self, folder: Path) -> list[Path]:
        if folder not in self._folders:
            # Tools leave hidden folders of their own beside the code.
            self._folders[folder] = [
                path
                for path in sorted(folder.rglob("*"))
                if path.suffix != ".pyc" and "/." not in path.relative_to(self.home).as_posix() and path.is_file()
            ]
        return self._folders[folder]

    def _path(self, module: str) -> Path | None:
        if module not in self._paths:
            self._paths[module] = self._found(module)
        return self._paths[module]

    def _found(self, module: str) -> Path | None:
        base = self.home.parent.joinpath(*module.split("."))
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path
        return None

    def _file(self, path: Path) -> tuple[str, list[str]]:
        if path not in self._read:
            self._read[path] = self._remembered(path)
        return self._read[path]

    def _remembered(self, path: Path) -> tuple[str, list[str]]:
        key = path.relative_to(self.home.parent).as_posix()
        found = path.stat()
        stat = [found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns]
        known = self.memory.get(key)
        if known is None or known[0] != stat:
            data = path.read_bytes()
            known = [stat, digest.of_bytes(data), _imports(pysource.tree(data)) if path.suffix == ".py" else []]
            self.memory[key] = known
            self.learned = True
        return known[1], known[2]


def _imports(tree: ast.AST) -> list[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and ENTRY.fullmatch(node.value):
            found.add(node.value.partition(":")[0])
    return sorted(found)


def _version(library: str) -> str | None:
    if library in sys.stdlib_module_names:
        return None
    names = {"yaml": "PyYAML", "jinja2": "Jinja2"}
    try:
        return metadata.version(names.get(library, library))
    except metadata.PackageNotFoundError:
        return None
