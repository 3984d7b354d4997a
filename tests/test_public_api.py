"""Importing is silent and cheap, and an up-to-date `doit` loads nothing heavy. Each in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.make.workspaces import CODE, Bench

HEAVY = ["litellm", "scipy", "jinja2", "jsonschema", "rich", "openai", "pydantic", "numpy", "mcp", "asyncio"]


def loaded(code: str, cwd: Path, env: dict[str, str], argv: list[str]) -> tuple[list[str], str]:
    """Heavy modules that a fresh interpreter has loaded at its end, and what it printed before."""
    show = f"print('HEAVY', *[m for m in {HEAVY!r} if m in sys.modules])"
    tell = f"import atexit, sys; sys.argv = {argv!r}\natexit.register(lambda: {show})\n"
    done = subprocess.run([sys.executable, "-c", tell + code], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.stderr == "", done.stderr
    said, _, heavy = done.stdout.rpartition("HEAVY")
    return heavy.split(), said


def test_importing_the_package_reads_prints_and_makes_nothing(tmp_path: Path):
    env = {"PYTHONPATH": str(CODE), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    code = "before = set(sys.modules); import bench; print(sorted(set(sys.modules) - before))"
    heavy, said = loaded(code, tmp_path, env, ["x"])
    assert heavy == []
    assert said == "['bench']\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["bench.make.load", "bench.steps.report", "bench.steps.session", "bench.steps.cell"])
def test_modules_import_nothing_heavy(tmp_path: Path, module: str):
    env = {"PYTHONPATH": str(CODE), "PATH": os.environ["PATH"]}
    heavy, said = loaded(f"import {module}", tmp_path, env, ["x"])
    assert (heavy, said) == ([], "")


DOIT = "from doit.doit_cmd import DoitMain; code = DoitMain().run(sys.argv[1:]); sys.exit(code)"


def test_an_up_to_date_run_loads_nothing_heavy(workspace: Bench):
    assert workspace.doit().code == 0
    for argv in (["doit", "-n", "1"], ["doit"], ["doit", "plan"], ["doit", "list"]):
        heavy, said = loaded(DOIT, workspace.root, workspace.environment(), argv)
        assert heavy == [], argv
        assert said, argv


def test_the_stamp_answers_before_our_code_is_loaded(workspace: Bench):
    assert workspace.doit().code == 0
    show = "print(*[m for m in sys.modules if m.startswith('bench.')])"
    _, said = loaded(f"atexit.register(lambda: {show})\n{DOIT}", workspace.root, workspace.environment(), ["doit"])
    assert "everything up to date" in said
    ours = said.splitlines()[-1].split()
    assert [name for name in ours if not name.startswith(("bench.errors", "bench.make"))] == []
    assert len(ours) < 12
