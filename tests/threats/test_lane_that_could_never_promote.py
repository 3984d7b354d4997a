"""The scheduled lane must be able to reach what it is there for, and must remember what earlier runs have paid for.

Incidents (failure modes 30 and 37): the lane never asked for the promotion, and a repository that its corpus named was not
on the runner, so nothing could be promoted; every run began without memory; a variable that enabled it was never set, and
two scheduled runs did nothing; a cancelled job skipped its uploads, and 51 paid sessions were lost.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import bench
from tests.make.workspaces import Bench

ROOT = Path(bench.__file__).resolve().parent.parent
LANE: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/evidence.yml").read_text("utf-8"))
JOBS: dict[str, dict[str, Any]] = LANE["jobs"]
NAMES = """
import json, sys
sys.argv = ["doit", "list"]
from doit.loader import load_tasks
import doit.doit_cmd
doit.doit_cmd.reset_vars()
import dodo
print(json.dumps([t.name for t in load_tasks(vars(dodo))]))
"""


def commands(job: dict[str, Any]) -> list[list[str]]:
    """The `doit` command lines of a job, in words."""
    lines = [line for step in job["steps"] for line in str(step.get("run", "")).splitlines()]
    return [shlex.split(line) for line in lines if ".venv/bin/doit" in line]


def asked(job: dict[str, Any]) -> set[str]:
    """The steps that a job names."""
    return {word for words in commands(job) for word in words if ":" in word and "=" not in word and "/bin/" not in word}


def declared(bench: Bench) -> set[str]:
    """Names of all steps of a workspace."""
    done = subprocess.run(
        [sys.executable, "-c", NAMES], cwd=bench.root, env=bench.environment(), capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def test_the_lane_asks_for_steps_that_there_are_and_for_the_promotion() -> None:
    known = declared(Bench(ROOT))
    named = asked(JOBS["demo"])
    assert {name.partition(":")[0] for name in named} >= {"health", "report", "promotion"}
    assert named <= known
    assert "apply:demo/candidate" in known, "what is promoted can be applied"
    for job in JOBS.values():
        assert not {name for name in asked(job) if name.startswith("apply")}, "and is applied by people alone"


def test_the_lane_runs_without_a_variable_that_nobody_set() -> None:
    assert "if" not in JOBS["demo"]
    assert not any("if" in step and step["if"] != "always()" for step in JOBS["demo"]["steps"])


@pytest.mark.parametrize("name", sorted(JOBS))
def test_what_was_paid_for_is_there_again_in_the_next_run_whatever_became_of_this_one(name: str) -> None:
    steps = JOBS[name]["steps"]
    uses = [str(step.get("uses", "")).partition("@")[0] for step in steps]
    measures = next(n for n, step in enumerate(steps) if ".venv/bin/doit" in str(step.get("run", "")))
    restored, saved = uses.index("actions/cache/restore"), uses.index("actions/cache/save")
    assert restored < measures < saved
    assert steps[restored]["with"]["path"] == steps[saved]["with"]["path"] == "artifacts"
    assert steps[restored]["with"]["key"].startswith(steps[restored]["with"]["restore-keys"])
    assert steps[saved]["if"] == "always()"
    uploads = [step for step, what in zip(steps, uses, strict=True) if what == "actions/upload-artifact"]
    assert uploads
    assert all(step["if"] == "always()" for step in uploads)


def test_no_suite_that_is_shipped_names_a_place_of_one_machine() -> None:
    for path in sorted((ROOT / "corpus").glob("*.yaml")):
        text = path.read_text("utf-8")
        assert "~/" not in text, path.name
        assert "dir: /" not in text, path.name
