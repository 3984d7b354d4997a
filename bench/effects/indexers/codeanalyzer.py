"""The codeanalyzer indexer: `canpy -i /src -o /out -c /tmp/c --no-venv -a 3` in the sandbox, at one fixed mount point.

It shows the sandbox the Python files of the tree and nothing else: no repository, no configuration, no ignore file, no
link. It runs no code of the tree, and its own failures end in StepFailed, never in a partial graph.
"""

from __future__ import annotations

import functools
import io
import json
import sys
import threading
import tokenize
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from bench.effects import files, trees
from bench.effects.indexers import Snapshot, canpy_graph, packages, room
from bench.effects.programs import NOTHING, Watched
from bench.effects.sandbox import PYTHON, Finished, Limits, Spec, runner
from bench.effects.trees import Entry
from bench.errors import StepFailed

DISTRIBUTION = "codeanalyzer-python"
UNUSED = frozenset({"ray", "requests", "uv"})
"""Requirements that this way of running never touches, for daemons and downloads (`canpy_launch` stands in for ray)."""
PACKAGES = "/opt/indexer"
MAX_SOURCE_BYTES = 512 << 10
"""A longer Python file is data; the reference's own bound (spec 3.5)."""
MAX_ANALYSIS_BYTES = 1 << 30
ARGUMENTS = ("-i", "/src", "-o", "/out", "-c", "/tmp/c", "--no-venv", "-a", "3")


class CodeAnalyzer:
    """Python sources, by codeanalyzer-python; test files are passed over, as it does by default."""

    def identity(self) -> dict[str, str]:
        """Versions of all packages that take part, and of the language that reads the source."""
        return dict(_identity())

    def watched(self) -> Watched:
        """Nothing beside the packages of this Python."""
        return NOTHING

    def index(self, tree: Path, scratch: Path, *, seconds: float, cancel: threading.Event) -> Snapshot:
        """Index the Python files of an expanded tree."""
        sources = [e for e in trees.read(tree, skip=lambda path: path == ".git") if e.path.endswith((".py", ".pyi"))]
        modules = [e for e in sources if e.path.endswith(".py") and not passed_over(e.path)]
        if not modules:
            return Snapshot(canpy_graph.empty(), "no Python file outside tests and installed packages")
        shown = [replace(e, data=_as_utf8(e.data)) for e in sources if _readable(e)]
        place = room.stage(shown, scratch)
        analysis = read(_run(place, seconds, cancel), place / "out" / "analysis.json")
        parsed = analysis["application"]["symbol_table"]
        unparsed = [room.printable(e.path) for e in modules if e.path not in parsed and e.mode != "120000"]
        graph = canpy_graph.normalise(analysis, unparsed)
        return Snapshot(graph, None if graph["nodes"] else f"none of the {len(modules)} Python files could be parsed")


@functools.cache
def _identity() -> dict[str, str]:
    # Asked for every graph step whenever steps are listed, and the same for the life of a process.
    closure = packages.closure(DISTRIBUTION, UNUSED)
    return packages.versions(closure) | {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}


def passed_over(path: str) -> bool:
    """Whether codeanalyzer leaves a Python file out by its path: tests and installed packages."""
    parts = path.split("/")
    tests = {"test", "tests"}.intersection(parts) or parts[-1].startswith("test_") or parts[-1].endswith("_test.py")
    return bool(tests or {"site-packages", ".venv", ".codeanalyzer"}.intersection(parts))


def _readable(entry: Entry) -> bool:
    return entry.mode != "120000" and len(entry.data) <= MAX_SOURCE_BYTES and room.printable(entry.path) == entry.path


def _as_utf8(data: bytes) -> bytes:
    """Source text as codeanalyzer reads it, UTF-8 without a mark, lines as they were; what has no encoding as it is."""
    try:
        encoding, _lines = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding).encode()
    except (SyntaxError, UnicodeError, LookupError):
        return data


def _run(place: Path, seconds: float, cancel: threading.Event) -> Finished:
    launch = resources.files("bench.effects.indexers").joinpath("canpy_launch.py").read_bytes()
    mounts = packages.mounts(packages.closure(DISTRIBUTION, UNUSED), PACKAGES)
    return runner.run(
        Spec(
            argv=(PYTHON, "-s", "-P", "-B", "-", *ARGUMENTS),
            env={"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "COLUMNS": "200"},
            cwd="/tmp",
            stdin=launch,
            readonly=(room.source(place), *mounts),
            writable=(room.out(place),),
            limits=Limits(seconds=seconds, processes=64),
        ),
        cancel=cancel,
    )


def read(finished: Finished, path: Path) -> dict[str, Any]:
    """The analysis of a run that ended well. Raises StepFailed for any other."""
    room.check("codeanalyzer", finished, path)
    analysis = json.loads(files.read_regular(path, MAX_ANALYSIS_BYTES))
    if analysis.get("schema_version") != "2.0.0" or analysis.get("max_level") != 3:
        raise StepFailed(f"codeanalyzer wrote schema {analysis.get('schema_version')!r}, not 2.0.0 at level 3")
    result: dict[str, Any] = analysis
    return result
