"""dodo.py declares and does nothing else: what it declares hangs together, in the shipped workspace and in a small one."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.make import workspaces
from tests.make.workspaces import CODE, Bench

TELL = """
import json, sys
sys.argv = ["doit", "list"]
from doit.loader import load_tasks
import doit.doit_cmd
doit.doit_cmd.reset_vars()
import dodo
tasks = load_tasks(vars(dodo))
print(json.dumps([[t.name, t.doc, sorted(t.file_dep), t.targets, t.task_dep, bool(t.actions)] for t in tasks]))
"""


def declared(bench: Bench) -> list[tuple[str, str, list[str], list[str], list[str], bool]]:
    """(name, doc, file_dep, targets, task_dep, has actions) of every task of a workspace."""
    done = subprocess.run(
        [sys.executable, "-c", TELL], cwd=bench.root, env=bench.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [tuple(task) for task in json.loads(done.stdout)]


@pytest.fixture(scope="module", params=["shipped", "tiny"])
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    if request.param == "shipped":
        return Bench(CODE)
    return Bench(workspaces.tiny(tmp_path_factory.mktemp("dodo") / "ws"))


def test_targets_are_unique_canonical_and_below_artifacts(bench: Bench):
    targets = [target for _, _, _, made, _, _ in declared(bench) for target in made]
    assert len(targets) == len(set(targets))
    for target in targets:
        assert target.startswith("artifacts/")
        assert Path(target).as_posix() == target
        assert ".." not in Path(target).parts


def test_every_input_is_made_by_a_step_or_present(bench: Bench):
    tasks = declared(bench)
    made = {target for task in tasks for target in task[3]}
    for name, _, inputs, _, _, _ in tasks:
        for path in inputs:
            assert path in made or (bench.root / path).is_file(), f"{name}: {path}"
            assert Path(path).as_posix() == path


def test_every_step_has_a_target_and_every_dependency_exists(bench: Bench):
    tasks = declared(bench)
    names = {task[0] for task in tasks}
    for name, _, _, targets, needs, acts in tasks:
        assert bool(targets) == acts, name
        assert set(needs) <= names, name


def test_every_kind_has_a_line_of_help():
    tree = ast.parse((CODE / "dodo.py").read_bytes())
    makers = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(makers) > 10
    for node in makers:
        assert node.name.startswith("task_")
        said = ast.get_docstring(node)
        assert said, node.name
        assert len(said.splitlines()) == 1, node.name


def test_it_only_declares():
    """No branch, no loop but over rows, no call of anything that reads or writes."""
    tree = ast.parse((CODE / "dodo.py").read_bytes())
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.If | ast.While | ast.Try | ast.With)]
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules == {"bench.make.stamp", "bench.layout", "bench.make", "bench.make.load"}


def test_list_shows_groups_with_help_and_all_steps_on_request(workspace: Bench):
    groups = workspace.doit("list")
    assert groups.code == 0
    names = [line.split()[0] for line in groups.stdout.splitlines()]
    assert names == sorted(names)
    assert {"session", "cell", "report", "suite"} <= set(names)
    assert all(len(line.split()) > 3 for line in groups.stdout.splitlines())
    every = workspace.doit("list", "--all")
    assert "cell:tiny/add/gold/0" in every.stdout
