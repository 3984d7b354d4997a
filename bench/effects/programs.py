"""Installed programs: how one is found by its variable or on the PATH, and what decides which one that is.

An answer that looks at nothing but stat keys and variables rests on this: another program may be another result.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.effects import env


@dataclass(frozen=True, slots=True)
class Watched:
    """Absolute paths, absent ones too, whose stat keys tell of a change, and variables whose values do."""

    paths: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()

    def __or__(self, other: Watched) -> Watched:
        return Watched(self.paths | other.paths, self.variables | other.variables)


NOTHING = Watched()


def find(name: str, variable: str | None = None) -> str | None:
    """What the variable says, which need not be there; else the program of that name on the PATH, or None."""
    return (env.get(variable) if variable else None) or shutil.which(name)


def watched(name: str, variable: str | None = None) -> Watched:
    """What `find` looks at: a program that comes to lie before the one that it finds is another answer too."""
    given = env.get(variable) if variable else None
    variables = frozenset({variable}) if variable else frozenset()
    if given:
        return Watched(frozenset({str(Path(given).absolute())}), variables)
    found = shutil.which(name)
    paths = []
    for folder in os.get_exec_path():
        place = Path(folder, name)
        paths.append(str(place.absolute()))
        if found and place == Path(found):
            break
    return Watched(frozenset(paths), variables | {"PATH"})
