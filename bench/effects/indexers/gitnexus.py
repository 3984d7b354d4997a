"""The gitnexus indexer: `gitnexus analyze --pdg --index-only --no-stats` in the sandbox, then its database read there.

The program is `$BENCH_GITNEXUS`, else `gitnexus` on the PATH, shown with its own node_modules and its Node.js at neutral
paths. It gets no network: `--skip-fts` spares it the download of a search extension, which no graph needs. The sandbox sees
a copy of the files without repository, links, and GitNexus's own configuration and ignore files.
"""

from __future__ import annotations

import contextlib
import json
import threading
from importlib import resources
from pathlib import Path
from typing import Any

from bench.effects import files, proc, programs, trees
from bench.effects.indexers import Snapshot, gitnexus_graph, room
from bench.effects.programs import Watched
from bench.effects.sandbox import Bind, Finished, Limits, Spec, runner
from bench.errors import MissingPart, StepFailed

VARIABLE = "BENCH_GITNEXUS"
NAME = "gitnexus"
MANIFEST = "package.json"
REMEDY = "ONNXRUNTIME_NODE_INSTALL=skip npm i -g gitnexus, with a Node.js that it accepts"
MODULES = "/opt/gitnexus/node_modules"
NODE = "/opt/node/bin"
MAX_EXPORT_BYTES = 1 << 30
STEERING = (".gitnexusignore", ".gitnexusrc", ".gitnexus", ".git")
SCRIPT = """\
node=$1
$node /opt/gitnexus/node_modules/gitnexus/dist/cli/index.js analyze /src --force --pdg --index-only --no-stats \
  --skip-fts --skip-git --workers 1 --max-file-size 512 || exit 1
$node - /out/index/lbug /out/graph.jsonl
"""


class GitNexus:
    """Sources in many languages, by the npm package gitnexus."""

    def identity(self) -> dict[str, str]:
        """Versions of gitnexus, of the packages that it names itself, and of Node.js."""
        modules, node = _installed()
        found = {path.parent.relative_to(modules).as_posix(): path for path in _manifests(modules) if path.is_file()}
        return {"node": _node_version(node)} | {name: str(_manifest(path)["version"]) for name, path in found.items()}

    def watched(self) -> Watched:
        """The manifests and Node.js, and where they are looked for."""
        paths: list[Path] = []
        with contextlib.suppress(MissingPart):
            modules, node = _installed()
            paths += [node, *_manifests(modules)]
        if found := programs.find(NAME, VARIABLE):
            paths.append(Path(found).absolute().parent / "node")
        return programs.watched(NAME, VARIABLE) | programs.watched("node") | Watched(frozenset(map(str, paths)))

    def index(self, tree: Path, scratch: Path, *, seconds: float, cancel: threading.Event) -> Snapshot:
        """Index all files of an expanded tree in languages that GitNexus knows."""
        shown = [e for e in trees.read(tree, skip=_steers) if e.mode != "120000" and _plain(e.path)]
        place = room.stage(shown, scratch)
        graph = gitnexus_graph.normalise(read(_run(place, seconds, cancel), place / "out" / "graph.jsonl"))
        return Snapshot(graph, None if graph["nodes"] else "no definition in a language that GitNexus knows")


def _steers(path: str) -> bool:
    return path.rpartition("/")[2].lower() in STEERING


def _plain(path: str) -> bool:
    # GitNexus keeps paths in UTF-8 text and in ids whose parts are joined by colons and spaces.
    return room.printable(path) == path and "\n" not in path


def _installed() -> tuple[Path, Path]:
    """`(node_modules, node)`. Raises MissingPart naming what is absent."""
    found = programs.find(NAME, VARIABLE)
    if not found or not Path(found).exists():
        raise MissingPart("no program gitnexus", where=found or "PATH", remedy=f"{REMEDY}, or set {VARIABLE}")
    program = Path(found).resolve()
    modules = next((p for p in program.parents if p.name == "node_modules"), None)
    if modules is None or not (modules / NAME / MANIFEST).is_file():
        raise MissingPart("gitnexus is not an npm installation", where=str(program), remedy=REMEDY)
    beside = Path(found).parent / "node"
    node = str(beside) if beside.exists() else programs.find("node")
    if not node:
        raise MissingPart("no program node", remedy=REMEDY)
    return modules, Path(node).resolve()


def _manifests(modules: Path) -> list[Path]:
    """Of gitnexus and of the packages that it names itself, absent ones too."""
    own = modules / NAME / MANIFEST
    return [own, *(modules / name / MANIFEST for name in sorted(_manifest(own).get("dependencies", {})))]


def _manifest(path: Path) -> dict[str, Any]:
    package: dict[str, Any] = json.loads(path.read_bytes())
    return package


def _node_version(node: Path) -> str:
    return proc.run([str(node), "--version"], seconds=60).stdout.decode().strip().removeprefix("v")


def _run(place: Path, seconds: float, cancel: threading.Event) -> Finished:
    modules, node = _installed()
    export = resources.files("bench.effects.indexers").joinpath("gitnexus_export.cjs").read_bytes()
    settings = {"GITNEXUS_STORAGE_PATH": "/out/index", "GITNEXUS_NO_GITIGNORE": "1", "DO_NOT_TRACK": "1", "CI": "1"}
    return runner.run(
        Spec(
            argv=("/bin/sh", "-c", SCRIPT, "sh", f"{NODE}/{node.name}"),
            env=settings,
            cwd="/tmp",
            stdin=export,
            readonly=(room.source(place), Bind(modules, MODULES), Bind(node, f"{NODE}/{node.name}")),
            writable=(room.out(place),),
            limits=Limits(seconds=seconds, processes=256),
        ),
        cancel=cancel,
    )


def read(finished: Finished, path: Path) -> list[dict[str, Any]]:
    """The exported rows of a run that ended well. Raises StepFailed for any other, and for a torn export."""
    room.check("gitnexus", finished, path)
    rows = [json.loads(line) for line in files.read_regular(path, MAX_EXPORT_BYTES).splitlines()]
    if not rows or rows[-1] != {"end": True}:
        raise StepFailed("gitnexus wrote a torn export")
    return rows
