"""A session's handed-in file, shown read-only to the visible verify command at the place where the session wrote it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench.effects import files
from bench.effects.grading.verifiers import View
from bench.effects.sandbox import Bind


@dataclass(frozen=True, slots=True)
class Place:
    """Folder and file name inside the sandbox, and the variable that holds the path."""

    folder: str
    name: str
    variable: str


@contextlib.contextmanager
def shown(view: View, data: bytes | None, place: Place, scratch: Path, aliases: Mapping[str, str]) -> Iterator[View]:
    """The view with the file in it, or with an empty folder where there is none. What is laid below `scratch` goes again."""
    home = scratch / "handed-in"
    path = f"{place.folder}/{place.name}"
    named = {place.variable: path} | ({aliases[place.variable]: path} if place.variable in aliases else {})
    try:
        home.mkdir()
        home.chmod(0o755)
        if data is not None:
            file = home / place.name
            file.write_bytes(data)
            file.chmod(0o444)
        yield replace(view, mounts=(*view.mounts, Bind(home, place.folder)), env={**view.env, **named})
    finally:
        files.remove_tree(home)
