"""Plugin directories on the host: which of a plugin's files an arm may be given, as a bounded list without links.

A plugin is shown as its manifests, skills, scripts and assets. Hooks, agents, commands and servers of its own stay out: they
would act beside the skills whose worth is measured. Nothing is opened here; the skill step reads and checks what is listed.
"""

from __future__ import annotations

import os
from pathlib import Path

from bench.effects import listing
from bench.errors import CorpusError

MANIFEST = ".claude-plugin/plugin.json"
PARTS = ("skills", "scripts", "assets")
MAX_FILES = 2048


def listed(plugin: str, root: Path) -> dict[str, str]:
    """{path in the plugin: path as a step names it, relative to the workspace where it lies in it}, sorted.

    Raises CorpusError naming the directory without a manifest, a link or special file, and a plugin of too many files.
    """
    shown = listing.place(plugin, root)
    folder = root / shown
    if not (folder / MANIFEST).is_file():
        what = "is not a plugin" if folder.is_dir() else "there is no such directory"
        raise CorpusError(what, where=plugin, remedy=f"name a directory with a {MANIFEST}")
    found: dict[str, str] = {}
    for part in (MANIFEST.partition("/")[0], *PARTS):
        if not os.path.lexists(folder / part):
            continue
        if (folder / part).is_symlink():
            raise CorpusError("links and special files are not allowed here", where=f"{plugin}/{part}")
        seen = listing.below(folder / part, links=False, where=f"{plugin}/{part}")
        found |= {f"{part}/{path}": (shown / part / path).as_posix() for path in seen.files}
    if len(found) > MAX_FILES:
        raise CorpusError(f"has {len(found)} files, the limit is {MAX_FILES}", where=plugin)
    return dict(sorted(found.items()))
