"""The visible verify command of a review that was made without a sandbox: on the host too, in a private copy.

The copy is rebuilt from the store, so that nothing of the session's own directories is used; it is gone afterwards.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.effects import files, trees
from bench.effects.changes import Changes
from bench.effects.grading import programs
from bench.effects.grading.artifacts import HandIn
from bench.effects.grading.staging import Stage
from bench.effects.hosted import clone, running
from bench.effects.hosted.mapped import Mapped
from bench.effects.hosted.running import Place
from bench.effects.sandbox import HOME, WORKSPACE, Finished

STEADY = {"PYTHONHASHSEED": "0"}


def visible(
    staged: Stage, changes: Changes, handed: bytes | None, hand_in: HandIn, command: str, seconds: float
) -> Finished:
    """Run it where the session's paths lead into the copy and to the artifact. Raises Cancelled, StepFailed."""
    home = staged.scratch / "graded"
    copy, shown = home / "clone", home / "handed-in"
    try:
        home.mkdir(mode=0o700)
        _rebuilt(staged.template, changes, copy)
        shown.mkdir()
        if handed is not None:
            (shown / hand_in.name).write_bytes(handed)
        clone.freeze(copy)
        clone.freeze(shown)
        where = {WORKSPACE: copy, HOME: home / "home", "/tmp": home / "tmp", hand_in.folder: shown}
        mapped = Mapped({name: str(path) for name, path in where.items()})
        named = {name: hand_in.path for name in hand_in.names}
        ground = Place(copy, home / "home", home / "tmp", mapped, {**STEADY, **named})
        running.prepare(ground)
        return programs.checked(running.run(ground, ("sh", "-c", command), seconds=seconds, cancel=staged.cancel))
    finally:
        files.remove_tree(home)


def _rebuilt(template: Path, changes: Changes, target: Path) -> None:
    entries = {entry.path: entry for entry in trees.read(template, skip=lambda path: path == clone.REPOSITORY)}
    for path in changes.deletions:
        entries.pop(path, None)
    trees.write((entries | {entry.path: entry for entry in changes.entries}).values(), target)
    shutil.copytree(template / clone.REPOSITORY, target / clone.REPOSITORY, symlinks=True)
