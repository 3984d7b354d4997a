"""Deletes a tree that an agent made: whatever its modes, however deep, without following a link. It never recurses.

Paths longer than the kernel takes and trees deeper than Python's stack are within any agent's reach. So each directory's
subdirectories are first moved up beside it, until nothing lies more than one level deep.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path


def _opened(path: Path | str, below: int | None = None) -> int:
    # No constant of the module: Windows, where evidence is only read, lacks these flags.
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=below)


def remove_tree(path: Path) -> None:
    """Delete a file, a link, or a directory with all that it holds. Nobody else may be writing there; absent is fine."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        path.unlink()
        return
    path.chmod(0o700)
    root = _opened(path)
    try:
        mark, moved = secrets.token_hex(8), 0
        while names := _names(root):
            for name in names:
                if _removed(root, name):
                    continue
                here = _opened(name, root)
                try:
                    for inner in _names(here):
                        if not _removed(here, inner):
                            moved += 1
                            os.rename(inner, f"{mark}-{moved}", src_dir_fd=here, dst_dir_fd=root)
                finally:
                    os.close(here)
                os.rmdir(name, dir_fd=root)
    finally:
        os.close(root)
    path.rmdir()


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as items:
        return [item.name for item in items]


def _removed(folder: int, name: str) -> bool:
    # A directory is left, but opened up: listing, and moving it elsewhere, take its owner's bits.
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        os.chmod(name, 0o700, dir_fd=folder)
        return False
    os.unlink(name, dir_fd=folder)
    return True
