"""Digests of code: the import closure of a step's module, with the versions of the libraries that it uses.

The import graph is the rebuild graph: editing `bench/core/medians.py` re-makes aggregates and what follows, nothing else.
Every `import` statement of our own modules counts, lazy ones too; data files (templates, schemas, prompts) count with the
folder that holds them. Each file is parsed once and remembered by the digest index.
"""

from __future__ import annotations

import ast
import sys
from importlib import metadata
from pathlib import Path

from bench.core import digest

PACKAGE = "bench"


class Code:
    """Closures over the package that contains this module."""

    def __init__(self) -> None:
        self.home = Path(__file__).resolve().parent.parent
        self._closures: dict[str, str] = {}
        self._files: dict[str, tuple[str, list[str]]] = {}

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
                for data in sorted(folder.rglob("*")):
                    name = data.relative_to(self.home).as_posix()
                    # Tools leave hidden folders of their own beside the code.
                    if data.is_file() and data.suffix not in (".py", ".pyc") and "/." not in name:
                        seen[name] = digest.of_bytes(data.read_bytes())
        listed = [[name, value] for name, value in seen.items()]
        listed += [[f"lib:{name}", version] for name in libraries if (version := _version(name))]
        return sorted(listed)

    def _path(self, module: str) -> Path | None:
        base = self.home.parent.joinpath(*module.split("."))
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path
        return None

    def _file(self, path: Path) -> tuple[str, list[str]]:
        key = str(path)
        if key not in self._files:
            data = path.read_bytes()
            self._files[key] = (digest.of_bytes(data), _imports(ast.parse(data)))
        return self._files[key]


def _imports(tree: ast.AST) -> list[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return sorted(found)


def _version(library: str) -> str | None:
    if library in sys.stdlib_module_names:
        return None
    names = {"yaml": "PyYAML", "jinja2": "Jinja2"}
    try:
        return metadata.version(names.get(library, library))
    except metadata.PackageNotFoundError:
        return None
