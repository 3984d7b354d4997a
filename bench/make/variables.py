"""`name=value` on the command line: which there are, which suites they reach, and what becomes of a suite by them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from pathlib import Path

import bench.layout as layout
from bench.core import matrix, nearest, overrides
from bench.core.matrix import Matrix
from bench.core.overrides_sandbox import UNSAFE
from bench.core.suite import Suite
from bench.effects import env
from bench.errors import SandboxRefused, UsageError
from bench.make import overlays

RECORD = "record"
"""Concerns the run and no key: the name of a cassette to write."""
KINDS = frozenset({*layout.FOLDERS, "suite"})
"""Words that stand for all steps of a kind, whatever their suite."""
OTHERS = (RECORD, overlays.VARIABLE)
"""Beside those that `core.overrides` knows."""


def refuse_unknown(given: Mapping[str, str]) -> None:
    """Raises UsageError naming the nearest variable."""
    for name in given:
        if name not in overrides.NAMES and name not in OTHERS:
            known = [*overrides.NAMES, *OTHERS]
            raise UsageError(f"unknown variable {name!r}", where="command line", remedy=nearest.remedy(name, known))


def named_suites(argv: Iterable[str], suites: Mapping[str, Suite]) -> set[str]:
    """Suites that the steps, patterns, kinds or files of a command line belong to; the default ones when it names none."""
    named: set[str] = set()
    for word in argv:
        if not word.startswith("-") and "=" not in word and (suite := _suite_of(word)):
            named |= {name for name in suites if fnmatch.fnmatchcase(name, suite)}
    return named or {name for name, suite in suites.items() if suite.default}


def _suite_of(word: str) -> str | None:
    """The pattern of suites that a word of the command line is about; None for one that is about none."""
    if word.startswith(f"{layout.ARTIFACTS}/"):
        _, _, rest = word.partition("/")
        return rest.partition("/")[2].partition("/")[0].removesuffix(".json")
    if ":" in word:
        return word.split(":", 1)[1].split("/", 1)[0]
    return "*" if word in KINDS or "*" in word or "?" in word else None


def lay(suite: Suite, given: Mapping[str, str], root: Path) -> Suite:
    """The suite with a hand-made overlay and the arms that follow from it; as it is without one. Raises UsageError."""
    if overlays.VARIABLE not in given:
        return suite
    return overlays.lay(suite, given[overlays.VARIABLE], root, given.get("arms"))


def apply(suite: Suite, given: Mapping[str, str]) -> tuple[Suite, Matrix]:
    """The suite that `lay` gave, with its overrides, and its selected cells. Raises UsageError for a bad value or name."""
    if overlays.VARIABLE in given:
        given = {name: value for name, value in given.items() if name != "arms"}
    if given.get("sandbox") == UNSAFE and env.get("CI"):
        raise SandboxRefused(
            f"{UNSAFE} is not for CI", where="sandbox=", remedy="give the runner user namespaces, or unset CI"
        )
    changed = overrides.override(suite, {name: value for name, value in given.items() if name not in OTHERS})
    return changed, matrix.select(changed)
