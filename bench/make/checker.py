"""doit's view of files: inputs are content digests; a target exists only if it is sealed and up to date by its state."""

from __future__ import annotations

from typing import Any

from doit.dependency import FileChangedChecker

from bench.make.workspace import Workspace

CHECKER = "EvidenceChecker"
"""The name of the class below, which doit keeps in every row."""


def checker_for(workspace: Workspace) -> type[FileChangedChecker]:
    """The checker class of a workspace; doit makes its one instance itself, without arguments."""
    index = workspace.index
    steps = workspace.steps

    class EvidenceChecker(FileChangedChecker):
        """States are digests, so a touched or copied file is not a changed one."""

        CheckerError = OSError

        def exists(self, path: str) -> bool:
            """Asked for targets only."""
            step = steps.get(path)
            if step is not None:
                return workspace.stands(step)
            return workspace.laid_out(path)

        def info(self, path: str) -> str:
            """A snapshot: the same answer for the whole run, unless the path's step runs."""
            return index.digest(path)

        def check_modified(self, path: str, info: str, state: Any) -> bool:
            """Digests differ."""
            return bool(info != state)

        def get_state(self, path: str, current: Any) -> str | None:
            """What is saved for a finished step: the state that was looked at."""
            state = index.digest(path)
            return None if state == current else state

    return EvidenceChecker
