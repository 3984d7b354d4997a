"""The names by which the harness could be known inside a workspace, a graph or a transcript: the one list of them.

Generated from the layout, the suites and our variables; never a word or a bare folder name that real projects use.
`carries` finds one in a text, `harness_paths` finds a harness's own files in a source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bench.core import review_artifact
from bench.core.suite import Suite, Task
from bench.layout import ARTIFACTS, CORPUS, ORACLES

VARIABLES = ("ASSAY_CHANNEL", "BENCH_ORACLE_REPORT", "BENCH_ORACLE_ROOT", review_artifact.VARIABLE)
"""Environment variables that only graders and reviewed sessions are given."""
MIN_LENGTH = 12
"""Characters below which a variable's other name is too likely to be somebody else's."""
_WORD = re.compile(r"\w")
_SUITE_FILE = re.compile(rf"(?<![\w-]){CORPUS}/[\w.-]{{1,128}}?\.(?:lock\.json|yaml)(?!\w)")


def markers(suites: Iterable[Suite]) -> tuple[str, ...]:
    """Sorted markers of these suites: variable names, suite and lock files, and every hidden file by its full path."""
    found = set(VARIABLES)
    for suite in suites:
        found |= {f"{CORPUS}/{suite.name}.yaml", f"{CORPUS}/{suite.name}.lock.json"}
        found |= _aliases(suite.env_aliases.values())
        for task in suite.tasks:
            found |= {f"{ORACLES}/{path}" for path in _hidden(task)}
    return tuple(sorted(found))


def of_task(task: Task, aliases: Mapping[str, str]) -> tuple[str, ...]:
    """Sorted markers of the grading of one task, whatever its suite is called; without what its own prompt says.

    `aliases`: our variable → its other name. That of the artifact is no secret from whoever is to write it.
    """
    named = _aliases(theirs for ours, theirs in aliases.items() if not (task.review and ours == review_artifact.VARIABLE))
    found = named | {f"{ORACLES}/{path}" for path in _hidden(task)}
    return tuple(sorted(marker for marker in found if marker not in task.prompt))


def spoken(text: str, markers: Iterable[str]) -> set[str]:
    """Those of `markers` that stand in a text, and whatever in it is named like a suite's file or its lock."""
    return {marker for marker in markers if marker in text and _stands_alone(text, marker)} | {*_SUITE_FILE.findall(text)}


def _aliases(names: Iterable[str]) -> set[str]:
    return {name for name in names if len(name) >= MIN_LENGTH and "_" in name}


def _hidden(task: Task) -> set[str]:
    paths = {file.source for file in task.oracle.files if file.sdist is None} if task.oracle else set()
    return paths | ({task.gold.patch} if task.gold and task.gold.patch else set())


def carries(text: str, markers: Sequence[str]) -> str | None:
    """The first marker that stands in `text` as a name of its own (no letter, digit or underscore beside it), or None."""
    return next((marker for marker in markers if marker in text and _stands_alone(text, marker)), None)


def _stands_alone(text: str, marker: str) -> bool:
    at = text.find(marker)
    while at >= 0:
        end = at + len(marker)
        if not _WORD.match(text[at - 1 : at]) and not _WORD.match(text[end : end + 1]):
            return True
        at = text.find(marker, at + 1)
    return False


def harness_paths(paths: Sequence[str], markers: Sequence[str]) -> dict[str, str]:
    """Which of a source's paths belong to a harness: {path: what to call the removal}, a folder ending in a slash.

    A path that carries a marker goes. Where a suite file or a hidden file of ours stands below some folder, that folder is a
    workspace, and the whole of its corpus, oracles and artifacts goes (cassettes and recorded answers with them).
    """
    own = (CORPUS, ORACLES, ARTIFACTS)
    places = [marker for marker in markers if marker.startswith((f"{CORPUS}/", f"{ORACLES}/"))]
    folders: set[str] = set()
    for path in paths:
        for place in places:
            if path == place or path.endswith(f"/{place}"):
                base = path.removesuffix(place)
                folders |= {f"{base}{name}/" for name in own}
    gone: dict[str, str] = {}
    ordered = sorted(folders)
    for path in paths:
        folder = next((item for item in ordered if path.startswith(item)), None)
        if folder or carries(path, markers):
            gone[path] = folder or path
    return gone
