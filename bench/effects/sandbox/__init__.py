"""The sandbox: one call, `run(spec) → Finished`, behind which an untrusted command runs with no network and no way out.

Rules in design section 5. Two backings of the workspace: `overlay` (the template is the lower layer, never copied) and
`copy` (a private copy, where overlay cannot be mounted). Either way a session writes only into its own `upper`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

BACKINGS = {
    "overlay": "bench.effects.sandbox.overlay:Overlay",
    "copy": "bench.effects.sandbox.copy:Copy",
}
"""Short name → dotted path, imported when used."""

PROTOCOL = 1
"""Changes when a session made in an older sandbox would no longer be comparable."""
WORKSPACE = "/workspace"
HOME = "/home/agent"
PYTHON = "/opt/python/bin/python3"
"""The neutral path of the interpreter that every sandbox has; `python` and `python3` on the PATH are it."""
DEPENDENCIES = "/opt/deps"
"""Where an assets tree is mounted read-only; see `Spec.dependencies`."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A host path shown inside, read-only unless it stands in `Spec.writable`."""

    source: Path
    target: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run. Whichever is hit first ends it and is named in `Finished.limit`."""

    seconds: float = 600.0
    output_bytes: int = 8 << 20
    """Per stream; what comes beyond is read and thrown away, and the run ended."""
    memory_bytes: int = 4 << 30
    processes: int = 512
    disk_bytes: int = 4 << 30
    """Growth of the upper layer, home and tmp together."""
    file_bytes: int = 1 << 30
    open_files: int = 1024


@dataclass(frozen=True, slots=True)
class Workspace:
    """The layered working directory of one session.

    `template` is read-only and shared; `upper` belongs to the session (created by `prepare`). With `frozen`, the command
    sees template + upper below a throw-away layer: it may write, nothing stays. `remove` are paths (relative, no `..`)
    that are taken out of that throw-away view before the command starts.
    """

    template: Path
    upper: Path
    backing: str = "overlay"
    frozen: bool = False
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spec:
    """One command in a sandbox."""

    argv: tuple[str, ...]
    workspace: Workspace | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    """Beside the fixed neutral environment (PATH, HOME, LANG, TZ, …)."""
    cwd: str = WORKSPACE
    stdin: bytes = b""
    """Given through a pipe when not empty, else /dev/null."""
    readonly: tuple[Bind, ...] = ()
    writable: tuple[Bind, ...] = ()
    home: Path | None = None
    """Host directory that is /home/agent (kept between runs of a session); None = a tmpfs of this run."""
    tmp: Path | None = None
    """The same for /tmp."""
    dependencies: Path | None = None
    """An expanded assets tree: site-packages of the interpreter inside, its `bin` on the PATH."""
    channel: bool = False
    """Give the command one extra pipe (number in $ASSAY_CHANNEL), read into `Finished.channel`."""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended. `exit` is the command's status as our own init saw it (128+n for a signal), None if it was killed."""

    exit: int | None
    limit: str | None
    """None, or which bound ended it: time, output, memory, processes, disk, cancelled."""
    stdout: bytes
    stderr: bytes
    channel: bytes
    seconds: float
    cpu_seconds: float | None = None
    memory_peak: int | None = None

    @property
    def ok(self) -> bool:
        """Ended by itself with status 0."""
        return self.exit == 0 and self.limit is None
