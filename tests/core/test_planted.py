"""Files that would be picked up by themselves are told from honest work."""

from __future__ import annotations

import pytest

from bench.core import planted

PLANTED = [
    "sitecustomize.py",
    "src/sitecustomize/__init__.py",
    "deep/usercustomize.cpython-311-x86_64-linux-gnu.so",
    "x/evil.pth",
    "conftest.py",
    "tests/unit/conftest.py",
    "pytest.ini",
    "tests/pytest.ini",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    "pytest.py",
    "pytest/__init__.py",
    "src/_pytest/runner.py",
    "src/pluggy.py",
    "json.py",
    "src/unittest/case.py",
    "evil-1.0.dist-info/entry_points.txt",
    "src/evil.egg-info/entry_points.txt",
    "src/pkg/__pycache__/m.cpython-311.pyc",
    "m.pyc",
]
HONEST = [
    "src/pkg/json.py",
    "src/pkg/types.py",
    "tests/test_new.py",
    "test/test_new.py",
    "docs/pytest.md",
    "src/pkg.egg-info/PKG-INFO",
    "templates/new-project/pyproject.toml",
    "src/pkg/queue/__init__.py",
    "README",
    "string",
    "calendar.txt",
]


@pytest.mark.parametrize("path", PLANTED)
def test_files_that_would_be_picked_up_by_themselves_are_found(path: str) -> None:
    assert [p for p, _ in planted.found([path], ["src", "./lib/"])] == [path]


@pytest.mark.parametrize("path", HONEST)
def test_honest_files_stay(path: str) -> None:
    assert planted.found([path], ["src"]) == []
