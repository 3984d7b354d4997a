"""What every test shares: hypothesis without a deadline, since no test asserts time and the machines of CI differ."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.make import workspaces
from tests.make.workspaces import Bench

settings.register_profile("assay", deadline=None)
settings.load_profile("assay")


def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a test session have in common."""
    home = tmp_path_factory.getbasetemp()
    # pytest-xdist gives every worker a folder of its own below the session's.
    return home.parent if home.name.startswith("popen-") else home


@pytest.fixture(scope="session", autouse=True)
def _bytecode(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every child is a fresh interpreter: compiling our modules would be a third of what each of them takes."""
    os.environ["PYTHONPYCACHEPREFIX"] = str(shared(tmp_path_factory) / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Workspaces on which `doit` was run once, by the name of the function that writes them; built once per test session.

    They are for copying (`workspace`), never for changing.
    """
    home = shared(tmp_path_factory) / "built-workspaces"
    home.mkdir(exist_ok=True)

    def get(name: str) -> Path:
        root = home / name
        with (home / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not root.is_dir():
                making = home / f"{name}.new"
                shutil.rmtree(making, ignore_errors=True)
                getattr(workspaces, name)(making)
                done = Bench(making).doit()
                assert done.code == 0, done.stdout + done.stderr
                making.rename(root)
        return root

    return get


@pytest.fixture
def promoted(built: Callable[[str], Path], tmp_path: Path) -> Bench:
    """A private copy of a built workspace whose candidate is promoted and can be applied."""
    return Bench(workspaces.copied(built("promoted"), tmp_path / "ws"))


@pytest.fixture
def shipped(tmp_path: Path) -> Bench:
    """A workspace of what is shipped: dodo file, corpus, oracles; nothing is built."""
    return Bench(workspaces.shipped(tmp_path / "shipped"))


@pytest.fixture
def workspace(built: Callable[[str], Path], tmp_path: Path) -> Bench:
    """A private copy of the built tiny workspace: one source, one task, arms nop and gold."""
    return Bench(workspaces.copied(built("tiny"), tmp_path / "ws"))
