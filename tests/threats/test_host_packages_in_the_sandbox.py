"""Incident: an interpreter mounted naively loaded the system's libpython, and saw the host's site-packages.

A dependency tree is all that the interpreter inside may import beside its own library, at the version that the lock names.
"""

from __future__ import annotations

import importlib.metadata
import json
import sqlite3
import ssl
import sys
from pathlib import Path

import pytest

from bench.effects import distributions, trees, wheels
from bench.effects.distributions import Pinned
from bench.effects.sandbox import PYTHON, Finished, Limits, Spec, runner
from bench.effects.store.local import LocalStore

RUNNER = ("iniconfig", "packaging", "pluggy", "pygments", "pytest")


def pinned(name: str) -> Pinned:
    version = importlib.metadata.version(name)
    entries = wheels.installed(name, version)
    assert entries is not None
    return Pinned(name, version, f"{name}-{version}-py3-none-any.whl", "0" * 64, trees.tree_digest(entries))


@pytest.fixture(scope="module")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = LocalStore(tmp_path_factory.mktemp("assets") / "store")
    merged = wheels.merge([(name, distributions.obtain(store, pinned(name))) for name in RUNNER])
    return trees.expand(store, store.put(trees.pack(merged)).blob)


def inside(dependencies: Path | None, *argv: str) -> Finished:
    return runner.run(Spec(argv, cwd="/", dependencies=dependencies, limits=Limits(seconds=60)))


def test_the_locked_runner_is_imported(dependencies: Path) -> None:
    done = inside(dependencies, "python", "-c", "import pytest, pygments; print(pytest.__version__, pytest.__file__)")
    assert done.ok, done.stderr
    version, file = done.stdout.decode().split()
    assert version == importlib.metadata.version("pytest")
    assert file.startswith("/opt/")


def test_its_script_runs_by_name_through_a_neutral_line(dependencies: Path) -> None:
    done = inside(dependencies, "pytest", "--version")
    assert done.ok, done.stderr
    assert importlib.metadata.version("pytest") in done.stdout.decode()
    assert (dependencies / "bin/pytest").read_text().splitlines()[0] == f"#!{PYTHON}"


def test_its_metadata_is_found(dependencies: Path) -> None:
    code = "import importlib.metadata as m; print(*sorted(d.name.lower() for d in m.distributions()))"
    done = inside(dependencies, "python3", "-c", code)
    assert done.stdout.decode().split() == list(RUNNER)


def test_the_interpreter_is_the_host_s_with_its_own_libraries(dependencies: Path) -> None:
    code = "import json, ssl, sqlite3, sys; print(json.dumps([sys.version, ssl.OPENSSL_VERSION, sqlite3.sqlite_version]))"
    done = inside(dependencies, "python", "-c", code)
    assert done.ok, done.stderr
    assert json.loads(done.stdout) == [sys.version, ssl.OPENSSL_VERSION, sqlite3.sqlite_version]


@pytest.mark.parametrize("name", ["blake3", "doit", "litellm", "hypothesis", "pip", "setuptools", "bench", "sitecustomize"])
def test_no_package_of_the_host_is_visible(dependencies: Path, name: str) -> None:
    for tree in (dependencies, None):
        done = inside(tree, "python", "-c", f"import {name}")
        assert b"ModuleNotFoundError" in done.stderr


def test_without_dependencies_there_is_no_runner() -> None:
    assert b"ModuleNotFoundError" in inside(None, "python", "-c", "import pytest").stderr


def test_the_dependencies_cannot_be_written(dependencies: Path) -> None:
    code = "import pytest, pathlib; pathlib.Path(pytest.__file__).write_text('')"
    done = inside(dependencies, "python", "-c", code)
    assert b"OSError" in done.stderr or b"PermissionError" in done.stderr
    assert (dependencies / "pytest/__init__.py").stat().st_size > 0


def test_no_path_of_the_host_is_on_the_search_path(dependencies: Path) -> None:
    done = inside(
        dependencies, "python", "-c", "import json, sys; print(json.dumps([sys.path, sys.prefix, sys.executable]))"
    )
    shown = done.stdout.decode()
    assert sys.prefix not in shown
    assert sys.base_prefix not in shown
    assert str(Path(__file__).parents[2]) not in shown
