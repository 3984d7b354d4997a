"""`graph QUESTION TARGET`: asks the program graph; standard library alone. Status 1 when there is no answer, 2 on misuse."""

from __future__ import annotations

import sys
from typing import TextIO

from bench.core.graph_queries import QUESTIONS
from bench.effects.graphtools.inside import reading


def main() -> None:
    """Print one answer, or how to ask, and end."""
    sys.exit(_run(sys.argv[1:]))


def _run(words: list[str]) -> int:
    if len(words) != 2 or words[0] not in QUESTIONS:
        wanted = words in ([], ["-h"], ["--help"], ["help"])
        _print(_usage(), sys.stdout if wanted else sys.stderr)
        return 0 if wanted else 2
    found = reading.answer(words[0], words[1])
    _print(found.text, sys.stdout)
    return 0 if found.ok else 1


def _usage() -> str:
    lines = [f"  graph {name} TARGET".ljust(30) + asked.about for name, asked in QUESTIONS.items()]
    return "\n".join(["usage: graph QUESTION TARGET", *lines, f"TARGET is {QUESTIONS['definition'].target}."])


def _print(text: str, where: TextIO) -> None:
    # Names of a project may hold what no encoding has.
    where.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
