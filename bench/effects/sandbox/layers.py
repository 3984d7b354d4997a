"""What a backing gives to one run: where the workspace's bytes lie, and what is thrown away afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.effects.sandbox import Workspace


@dataclass(frozen=True, slots=True)
class Layers:
    """Lower directories (first wins) below a layer with `data` and `work`; or, without lower ones, `layer/data` as it is."""

    lower: tuple[Path, ...]
    layer: Path
    thrown: Path | None = None
    """Deleted after the run."""
    baseline: int = 0
    """Bytes that were there before the session and do not count as its growth."""


class Backing(Protocol):
    """How a workspace is kept."""

    def prepare(self, workspace: Workspace) -> None:
        """Make the session's own layer."""
        ...

    def discard(self, workspace: Workspace) -> None:
        """Delete it, whatever modes an agent left there."""
        ...

    def layers(self, workspace: Workspace) -> Layers:
        """What one run mounts."""
        ...
