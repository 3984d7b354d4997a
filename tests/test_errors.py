"""The tree of errors in the docstring is the tree of classes, exit codes and all; a message is one line."""

from __future__ import annotations

import inspect
import re

import pytest

from bench import errors
from bench.errors import BenchError

CLASSES = {name: cls for name, cls in vars(errors).items() if inspect.isclass(cls) and issubclass(cls, BenchError)}


def drawn() -> dict[str, tuple[str, int]]:
    """Class → (parent, exit code), read from the drawing."""
    found: dict[str, tuple[str, int]] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ([│├└─ ]*)([A-Z]\w+) +(\d+)   \S", line)
        if match:
            depth = len(match[1]) // 4
            above[depth:] = [match[2]]
            found[match[2]] = (above[depth - 1] if depth else "Exception", int(match[3]))
    return found


def test_the_drawing_is_the_tree():
    assert drawn() == {name: (cls.__base__.__name__, cls.exit_code) for name, cls in CLASSES.items()}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_message_is_one_line_with_place_and_remedy(name: str):
    error = CLASSES[name]("what\nhappened", where="here", remedy="do this")
    assert str(error) == "here: what happened; do this"
    assert str(CLASSES[name]("what")) == "what"
