"""What every test shares: hypothesis without a deadline, since no test asserts time and the machines of CI differ."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.make import workspaces
from tests.make.workspaces import Bench

settings.register_profile("assay", deadline=None)
settings.load_profile("assay")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Workspaces on which `doit` was run once, by the name of the function that writes them; built once per test session.

    They are for copying (`workspace`), never for changing.
    """
    worker_home = tmp_path_factory.getbasetemp()
    # pytest-xdist gives every worker a folder of its own below the session's.
    shared = (worker_home.parent if worker_home.name.startswith("popen-") else worker_home) / "built-workspaces"
    shared.mkdir(exist_ok=True)

    def get(name: str) -> Path:
        root = shared / name
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not root.is_dir():
                making = shared / f"{name}.new"
                shutil.rmtree(making, ignore_errors=True)
                getattr(workspaces, name)(making)
                done = Bench(making).doit()
                assert done.code == 0, done.stdout + done.stderr
                making.rename(root)
        return root

    return get


@pytest.fixture
def workspace(built: Callable[[str], Path], tmp_path: Path) -> Bench:
    """A private copy of the built tiny workspace: one source, one task, arms nop and gold."""
    return Bench(workspaces.copied(built("tiny"), tmp_path / "ws"))
