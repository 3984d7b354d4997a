"""A session's handed-in file, shown read-only to the visible verify command at the place where the session wrote it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench.effects import files
from bench.effects.grading.verifiers import View
from bench.effects.sandbox import Bind


@dataclass(frozen=True, slots=True)
class HandIn:
    """Where a session hands in: folder and file name inside the sandbox, and the variable that holds the path."""

    folder: str
    name: str
    variable: str
    alias: str | None = None
    """The name by which the suite's commands also know the variable."""

    @property
    def path(self) -> str:
        """Inside the sandbox."""
        return f"{self.folder}/{self.name}"

    @property
    def names(self) -> tuple[str, ...]:
        """Every variable that holds the path."""
        return (self.variable, self.alias) if self.alias else (self.variable,)


@contextlib.contextmanager
def shown(view: View, data: bytes | None, hand_in: HandIn, scratch: Path) -> Iterator[View]:
    """The view with the file in it, or with an empty folder where there is none. What is laid below `scratch` goes again."""
    home = scratch / "handed-in"
    named = dict.fromkeys(hand_in.names, hand_in.path)
    try:
        home.mkdir()
        home.chmod(0o755)
        if data is not None:
            file = home / hand_in.name
            file.write_bytes(data)
            file.chmod(0o444)
        yield replace(view, mounts=(*view.mounts, Bind(home, hand_in.folder)), env={**view.env, **named})
    finally:
        files.remove_tree(home)
