"""Backing `overlay`: the template is the lower layer of an overlay file system, never copied and never written.

Known differences from a plain directory, held by the conformance suite: renaming a directory that comes from the template
gives EXDEV (`mv` and `shutil.move` copy instead), and hard links of a template's file break when one name is written.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.effects.removal import remove_tree
from bench.effects.sandbox import Workspace
from bench.effects.sandbox.layers import Layers


class Overlay:
    """Layers of an overlay: `upper/data` and `upper/work`, as the kernel wants them side by side."""

    def prepare(self, workspace: Workspace) -> None:
        """An empty upper layer."""
        _layer(workspace.upper)

    def discard(self, workspace: Workspace) -> None:
        """Delete the upper layer, whatever modes were left in it."""
        remove_tree(workspace.upper)

    def layers(self, workspace: Workspace) -> Layers:
        """What one run mounts: the session's own layer, or a throw-away one above it."""
        if not workspace.frozen:
            _layer(workspace.upper)
            return Layers(lower=(workspace.template,), layer=workspace.upper)
        thrown = Path(tempfile.mkdtemp(dir=workspace.upper.parent, prefix=".thrown-"))
        _layer(thrown)
        return Layers(lower=(workspace.upper / "data", workspace.template), layer=thrown, thrown=thrown)


def _layer(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    remove_tree(path / "work")  # a volatile overlay leaves a mark there so that nobody mounts it again unawares
    for name, mode in (("data", 0o755), ("work", 0o700)):
        (path / name).mkdir(exist_ok=True)
        (path / name).chmod(mode)
