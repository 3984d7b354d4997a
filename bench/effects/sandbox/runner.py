"""The sandbox's door: run a command, look after a session's layers, say whether this machine can.

Rule: fail closed. What a command does wrong is a value; a machine that cannot make the whole sandbox raises
SandboxRefused or MissingPart naming the setting and the remedy. There is no fallback to less of it.
"""

from __future__ import annotations

import platform
import tempfile
import threading
from pathlib import Path

from bench.effects.removal import remove_tree
from bench.effects.sandbox import (
    BACKINGS,
    Finished,
    Limits,
    Spec,
    Workspace,
    bwrap,
    execution,
    interpreter,
    limits,
    refusals,
)
from bench.effects.sandbox.pump import Watch
from bench.errors import MissingPart, SandboxRefused

PROBE = "import os, ssl, sqlite3; os.rename('a/kept', 'kept'); os.unlink('gone'); os.rmdir('a'); os.mkdir('a')"
"""What a backing must be able to do: rename, whiteout, and a new directory over a deleted one."""


_chosen: dict[int, str] = {}
"""Device → backing. A probe costs two starts of a sandbox, and its answer is a property of the file system."""


def run(spec: Spec, *, cancel: threading.Event | None = None, watch: Watch | None = None) -> Finished:
    """Run one command to its end; every process that it started is dead when this returns.

    `cancel` ends it with limit `cancelled`. `watch("stdout"|"stderr", bytes)` sees output as it comes, in this thread.
    Raises SandboxRefused, MissingPart, ValueError for a mount point that is no plain absolute path.
    """
    return execution.execute(spec, cancel, watch)


def prepare(workspace: Workspace) -> None:
    """Make the session's own layer: empty, the session sees the template as it is."""
    execution.backing(workspace.backing).prepare(workspace)


def discard(workspace: Workspace) -> None:
    """Delete the session's layer, whatever modes were left in it. Safe to call twice."""
    execution.backing(workspace.backing).discard(workspace)


def choose_backing(probe_dir: Path) -> str:
    """`overlay` if one whose layers lie in `probe_dir` works here, else `copy`. Tried once per file system and process.

    Leaves nothing there. Raises SandboxRefused when neither works.
    """
    probe_dir.mkdir(parents=True, exist_ok=True)
    device = probe_dir.stat().st_dev
    if device not in _chosen:
        _chosen[device] = _choose(probe_dir)
    return _chosen[device]


def _choose(probe_dir: Path) -> str:
    said = ""
    for name in BACKINGS:
        try:
            finished = _probe(probe_dir, name)
        except SandboxRefused as refused:
            said = refused.what
            continue
        if finished.ok:
            return name
        said = finished.stderr.decode("utf-8", "replace")
    raise refusals.explain(said)


def _probe(folder: Path, name: str) -> Finished:
    folder.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(dir=folder, prefix=".probe-"))
    try:
        (home / "template" / "a").mkdir(parents=True)
        for path in ("gone", "a/kept"):
            (home / "template" / path).write_bytes(b"1")
        workspace = Workspace(home / "template", home / "upper", name)
        prepare(workspace)
        bounds = Limits(seconds=60, output_bytes=1 << 16)
        return run(Spec(("python3", "-I", "-c", PROBE), workspace, limits=bounds))
    finally:
        remove_tree(home)


def check() -> None:
    """Raise SandboxRefused or MissingPart, naming the setting and the remedy, if this machine cannot."""
    if platform.system() != "Linux":
        raise SandboxRefused("sessions and verifiers need Linux", where=platform.system(), remedy=refusals.setting()[1])
    bwrap.program()
    limits.check()
    done = run(Spec(("python3", "-I", "-c", "import ssl, sqlite3, sys; print(sys.version)"), limits=Limits(seconds=60)))
    if not done.ok:
        raise refusals.explain(done.stderr.decode("utf-8", "replace"))
    import sys

    if done.stdout.decode().strip() != sys.version:
        raise MissingPart(
            "the sandbox's Python is not this one", where=str(interpreter.neutral()), remedy="delete that directory"
        )


def versions() -> dict[str, str]:
    """Bubblewrap's and the kernel's: recorded, never keyed."""
    return {"bubblewrap": bwrap.program()[1], "kernel": platform.release()}
