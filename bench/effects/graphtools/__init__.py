"""Graph tools for agents: an MCP server over stdio, and a `graph` command, over the snapshot mounted at /opt/graph.

Both answer from one query module, copied beside the snapshot under a neutral name: nothing of the harness is read
there. They run with the sandbox's own interpreter; the server's packages are this environment's, mounted read-only.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from bench.effects import files
from bench.effects.indexers import packages
from bench.effects.sandbox import PYTHON, Bind, view

FOLDER = "/opt/graph"
"""Where the session mounts the snapshot, `graph.json`, and these tools beside it."""
GRAPH = f"{FOLDER}/graph.json"
PACKAGES = "/opt/graph-packages"
BIN = f"{FOLDER}/bin"
DISTRIBUTION = "mcp"
MODULE = "graphtool"
INSIDE = "bench.effects.graphtools.inside"
COPIED = {
    "bench.core": ("pdg.py", "graph_queries.py", "nearest.py"),
    INSIDE: ("errors.py", "reading.py", "command.py", "server.py"),
}
"""Package → its modules that are shown; the names that they have for each other are replaced by those inside."""
RENAMED = {INSIDE: MODULE, "bench.core": MODULE, "bench.errors": f"{MODULE}.errors"}
_START = "import sys; sys.path[:0] = {}; from " + MODULE + ".{} import main; main()"
COMMAND = f"""#!/bin/sh
exec {PYTHON} -ISB -c "{_START.format([f"{FOLDER}/lib"], "command")}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a client of the server needs: further read-only mounts, and the server's argv inside."""

    binds: tuple[Bind, ...]
    argv: tuple[str, ...]


def place(folder: Path) -> None:
    """Write the tools into a host directory that is mounted read-only at FOLDER, with the snapshot beside them."""
    lib = folder / "lib" / MODULE
    files.write_atomic(lib / "__init__.py", b"", mode=0o444, sync=False)
    for package, names in COPIED.items():
        for name in names:
            files.write_atomic(lib / name, _text(package, name), mode=0o444, sync=False)
    files.write_atomic(folder / "bin" / "graph", COMMAND.encode(), mode=0o555, sync=False)
    for made in (folder, folder / "lib", lib, folder / "bin"):
        made.chmod(0o755)


def server() -> Tools:
    """The MCP server. Raises MissingPart when the SDK (the extra `graph`) is not installed."""
    return Tools(_packages(), (PYTHON, "-ISB", "-c", _START.format([f"{FOLDER}/lib", PACKAGES], "server")))


def environment() -> dict[str, str]:
    """What puts the `graph` command on the PATH."""
    return {"PATH": f"{BIN}:{view.SEARCH_PATH}"}


@functools.cache
def _packages() -> tuple[Bind, ...]:
    return packages.mounts(packages.closure(DISTRIBUTION), PACKAGES)


@functools.cache
def _text(package: str, name: str) -> bytes:
    text = resources.files(package).joinpath(name).read_text("utf-8")
    for ours, theirs in RENAMED.items():
        text = text.replace(ours, theirs)
    return text.encode()
