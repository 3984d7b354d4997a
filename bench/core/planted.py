"""Files of a session that Python or a test runner would pick up by itself: they are kept out of the graded view."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

AUTOLOADED = ("sitecustomize", "usercustomize")
RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py", "nose", "xdist", "coverage"})
"""Modules of the runner: one on an import root would be the runner."""
TEST_SETTINGS = frozenset(
    {"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml"}
)
TEST_FOLDERS = frozenset({"test", "tests", "testing"})
"""Where, beside the workspace itself and the import roots, a runner would look for its settings."""
METADATA = ("*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt", "EGG-INFO/entry_points.txt")
NOT_SHADOWS = frozenset({"test", "tests", "this", "antigravity", "idlelib", "turtledemo", "__main__", "lib2to3"})
"""Names of the standard library that projects use for folders of their own."""


def found(added: Iterable[str], roots: Sequence[str]) -> list[tuple[str, str]]:
    """(path, why) of added files that Python or a test runner would pick up by itself; they are left out when grading.

    `added` are paths that the template does not have; `roots` are import roots relative to the workspace ("" is itself).
    """
    looked_at = tuple({"", *(_plain(root) for root in roots)})
    said = ((path, _picked_up(path, looked_at)) for path in sorted(added))
    return [(path, why) for path, why in said if why]


def _plain(root: str) -> str:
    return "/".join(part for part in root.split("/") if part not in ("", "."))


def _picked_up(path: str, roots: Sequence[str]) -> str | None:
    parts = path.split("/")
    name = parts[-1]
    if any(_module(part) in AUTOLOADED for part in parts):
        return "Python imports it at every start"
    if name.endswith((".pth", "._pth")):
        return "Python runs it at every start"
    folder = path.rpartition("/")[0]
    looked_at = folder in roots or all(part in TEST_FOLDERS for part in parts[:-1])
    if name == "conftest.py" or (name in TEST_SETTINGS and looked_at):
        return "a test runner reads it by itself"
    if any(fnmatchcase("/".join(parts[-2:]), pattern) for pattern in METADATA):
        return "it registers plugins"
    if "__pycache__" in parts or name.endswith(".pyc"):
        return "it is bytecode"
    for root in roots:
        below = path.removeprefix(f"{root}/") if root else path
        if (root and below == path) or not below:
            continue
        module = _module(below.split("/")[0]) if "/" in below or _is_module(below) else ""
        if module in RUNNERS:
            return "it would stand in for the test runner"
        if module in sys.stdlib_module_names and module not in NOT_SHADOWS:
            return "it would stand in for a part of the standard library"
    return None


def _module(part: str) -> str:
    return part.split(".")[0]


def _is_module(name: str) -> bool:
    return name.endswith((".py", ".so", ".pyi", ".zip", ".egg"))
