"""The `pypi` suite: real releases, pinned, nothing of theirs kept here; nop resolves none of its tasks, gold all.

The run itself is marked `network` and `slow`: it fetches sdists and wheels once. All else holds without either.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

import bench
from bench.core import lock, matrix
from bench.core.suite import Task
from bench.effects import cassettes
from bench.make import authoring
from tests.make.workspaces import Bench, shipped_suite

ROOT = Path(bench.__file__).resolve().parent.parent
CORPUS = ROOT / "corpus"
EXPENSIVE = ("networkx-domination",)
NOWHERE = "http://127.0.0.1:9/simple/"
"""An index that nobody serves: port 9 is `discard`."""


SUITE = shipped_suite("pypi")
TASKS = {task.id: task for task in SUITE.tasks}


def project(pin: str) -> tuple[str, Version]:
    name, _, version = pin.partition("==")
    return canonicalize_name(name), Version(version)


def test_at_least_six_projects_and_every_class_of_task():
    chosen = matrix.select(SUITE).tasks
    assert len({project(task.source["sdist"])[0] for task in chosen}) >= 6
    assert {task.cls for task in chosen} == {"trivial", "investigation-bug", "investigation-feature", "cross-module"}
    assert matrix.select(SUITE).skipped == EXPENSIVE


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
def test_a_task_goes_from_one_release_to_a_later_one_and_all_of_it_is_pinned(task: Task):
    name, old = project(task.source["sdist"])
    assert task.gold is not None
    assert task.oracle is not None
    assert project(task.gold.sdist or "")[0] == name
    assert project(task.gold.sdist or "")[1] > old
    for file in task.oracle.files:
        assert (file.sdist, file.sha256) == (task.gold.sdist, task.gold.sha256)
    assert all(len(sha256) == 64 for sha256 in (task.source["sha256"], task.gold.sha256 or ""))
    # The solution brings neither tests nor what packages them.
    assert {"PKG-INFO"} < set(task.gold.exclude)
    assert any("tests/*" in glob for glob in task.gold.exclude)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
def test_what_is_installed_is_locked_and_never_the_project_itself(task: Task):
    text = (CORPUS / "pypi.lock.json").read_text("utf-8")
    names = {
        canonicalize_name(entry["name"]) for entry in lock.parse(text, "pypi.lock.json").requirements(task.dependencies)
    }
    assert "pytest" in names
    assert project(task.source["sdist"])[0] not in names


def test_nothing_of_the_projects_is_kept_here():
    for folder in (ROOT / "oracles", CORPUS / "repos"):
        assert not {path.name for path in folder.iterdir()} & (
            {project(t.source["sdist"])[0] for t in TASKS.values()} | set(TASKS)
        )


def test_the_cassette_is_what_its_script_says_and_has_a_take_for_every_task_of_the_arm():
    script = CORPUS / "cassettes" / "pypi.script.yaml"
    data = (CORPUS / "cassettes" / "pypi.json").read_bytes()
    assert authoring.cassette(script) == data
    played = {talk["prompt"] for talk in json.loads(data)["conversations"]}
    only = SUITE.arm("incumbent").only
    assert only is not None
    assert played == {cassettes.prompt_digest(TASKS[task].prompt) for task in only}


def doit(bench: Bench, *words: str, env: dict[str, str] | None = None) -> str:
    done = bench.doit(*words, env=env, seconds=3000)
    assert done.code == 0, done.stdout + done.stderr
    return done.stdout


def cells(root: Path) -> dict[str, dict[str, Any]]:
    """`<task>/<arm>/<run>` → the body of the cell's record."""
    home = root / "artifacts" / "cells" / "pypi"
    return {p.relative_to(home).with_suffix("").as_posix(): json.loads(p.read_bytes())["body"] for p in home.rglob("*.json")}


@pytest.mark.network
@pytest.mark.slow
def test_nop_resolves_none_gold_all_and_after_that_no_index_is_needed(shipped: Bench):
    said = doit(shipped, "-n", "2", "suite:pypi")
    assert "skipped as expensive: networkx-domination" in said
    found = cells(shipped.root)
    ran = {task for task in TASKS if task not in EXPENSIVE}
    assert {name.split("/")[0] for name in found} == ran
    for task in sorted(ran):
        nop, gold = found[f"{task}/nop/0"], found[f"{task}/gold/0"]
        assert (nop["resolved"], nop["oracle_passed"], nop["authored_tests_passed"]) == (False, False, True), task
        assert (gold["resolved"], gold["oracle_passed"], gold["authored_tests_passed"]) == (True, True, True), task
        assert (nop["alarms"], gold["alarms"]) == ([], []), task
    outcome = {name.split("/")[0]: body["resolved"] for name, body in found.items() if "/incumbent/" in name}
    assert outcome == {"parse-hyphens": True, "cachetools-typed-methods": False, "xmltodict-injection": True}

    # Made anew from what was fetched: nothing of the first run but the downloads may be needed from outside.
    nowhere = {"PIP_INDEX_URL": NOWHERE, "PIP_EXTRA_INDEX_URL": ""}
    revoked = ["template:xmltodict-0.14.2", "assets:xmltodict-injection", "oracle:xmltodict-injection"]
    doit(shipped, "clean", "--yes", "--downstream", *revoked, env=nowhere)
    said = doit(shipped, "cell:pypi/xmltodict-injection/gold/0", env=nowhere)
    assert all(
        f"built     {step} " in said for step in (*revoked, "gold:xmltodict-injection", "expected:xmltodict-injection")
    )
    again, before = (every["xmltodict-injection/gold/0"] for every in (cells(shipped.root), found))
    verdict = ("resolved", "oracle", "churn_digest", "diff_insertions")
    assert [again[name] for name in verdict] == [before[name] for name in verdict]
