"""`dir` sources: the working files of a directory as they are, less every `.git` and what Python and Finder leave behind.

Submodules are pinned as they stand on disk; one that was never fetched is refused by path, since half of a project would
be missing. The directory is trusted (nobody's agent writes there), but no link in it is followed.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.effects import files, git, trees
from bench.effects.listing import SKIPPED
from bench.effects.sources import Fetched, rules
from bench.errors import CorpusError, SourceError
from bench.layout import Layout

_GITLINK = b"160000"


def home(spec: Mapping[str, Any], root: Path) -> Path:
    """The directory that `dir` names: absolute, below `~`, or relative to the corpus of the workspace at `root`."""
    named = Path(str(spec["dir"])).expanduser()
    layout = Layout(root)
    folder = layout.corpus / named
    where = f"source.dir: {spec['dir']}"
    if not folder.is_dir():
        raise CorpusError("is not a directory", where=where, remedy=f"it is looked for below {layout.corpus.name}/")
    real = folder.resolve()
    own = [part.resolve() for part in (layout.corpus, layout.oracles, layout.artifacts)]
    if any(part.is_relative_to(real) for part in own) or any(real.is_relative_to(part) for part in own[1:]):
        # Its evidence would be part of what it is made from, and hidden files part of what an agent sees.
        raise CorpusError("holds this workspace's own files", where=where, remedy="name another directory, or a git source")
    return folder


class Directory:
    """Files of a directory on this machine."""

    def fetch(self, spec: Mapping[str, Any], root: Path, scratch: Path, cancel: threading.Event) -> Fetched:
        """Read it; `revision` is the tree's digest."""
        folder = home(spec, root)
        entries = trees.read(folder, skip=lambda path: path.rpartition("/")[2] in SKIPPED)
        self._check_submodules(folder, scratch, {entry.path for entry in entries})
        rules.check_size(len(entries), sum(len(entry.data) for entry in entries))
        return Fetched(entries, trees.tree_digest(entries))

    def resolve(self, spec: Mapping[str, Any], root: Path) -> dict[str, Any]:
        """Nothing to pin: the files themselves are in the key."""
        home(spec, root)
        return {}

    def _check_submodules(self, folder: Path, scratch: Path, present: set[str]) -> None:
        # Only the index is read, from a git dir of our own: the directory's configuration could name programs to run.
        index = _git_dir(folder) / "index"
        if not index.is_file():
            return
        home = scratch / "index"
        git.output(["init", "--quiet", "--bare", "--template=", str(home)], cwd=scratch)
        done = git.run(["ls-files", "--stage", "-z"], cwd=home, variables={"GIT_INDEX_FILE": str(index.resolve())})
        for row in done.stdout.split(b"\0") if done.exit == 0 else ():
            meta, _, name = row.partition(b"\t")
            path = name.decode("utf-8", "surrogateescape")
            if meta.startswith(_GITLINK) and not any(item.startswith(f"{path}/") for item in present):
                raise SourceError(
                    "is a submodule whose files are not there",
                    where=rules.shown(path),
                    remedy="git submodule update --init",
                )


def _git_dir(folder: Path) -> Path:
    """The git dir of a work tree: `.git`, or what a `.git` file (of a worktree or submodule) points to."""
    home = folder / ".git"
    if not home.is_file():
        return home
    text = files.read_regular(home, limit=8192).decode("utf-8", "surrogateescape")
    return folder / text.strip().removeprefix("gitdir:").strip()
