"""`sandbox=unsafe-host` on the command line: what it refuses, how loud it is, and what its evidence is good for."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import bench
from bench.effects.sandbox import bwrap
from tests.make.workspaces import Bench, commit

ROOT = Path(bench.__file__).resolve().parent.parent
UNSAFE = "sandbox=unsafe-host"
ONE = ("suite:review", "tasks=review-overdue-clean", "arms=nop,gold,incumbent", "runs=1")


@pytest.mark.parametrize(
    ("words", "env", "code", "said"),
    [
        (ONE, {"CI": "1"}, 3, "unsafe-host is not for CI"),
        (("suite:demo",), {}, 2, "is for suites of reviews"),
        ((), {}, 2, "is for suites of reviews"),
        (("suite:claude-demo",), {}, 2, "is for suites of reviews"),
    ],
)
def test_it_is_refused_before_anything_runs(
    shipped: Bench, words: tuple[str, ...], env: dict[str, str], code: int, said: str
) -> None:
    done = shipped.doit(*words, UNSAFE, env=env)
    assert (done.code, done.did) == (code, {}), done.stderr
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_client_is_refused_and_our_own_engine_named(shipped: Bench) -> None:
    shipped.edit(
        "corpus/review.yaml",
        "name: incumbent, role: incumbent, engine: loop",
        "name: incumbent, role: incumbent, engine: claude",
    )
    done = shipped.doit(*ONE, UNSAFE)
    assert done.code == 2, done.stderr
    assert "engine is claude" in done.stderr
    assert "engine loop" in done.stderr


@pytest.mark.slow
def test_a_machine_without_user_namespaces_gets_through_and_its_evidence_stays_apart(shipped: Bench) -> None:
    program, _version = bwrap.program()
    without = (str(program), "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--proc", "/proc")
    assert shipped.doit(*ONE, prefix=without).code == 3
    done = shipped.doit(*ONE, UNSAFE, prefix=without)
    assert done.code == 0, done.stdout + done.stderr
    assert "warning: unsafe-host: no sandbox" in done.stderr
    assert not [step for step in done.did if step.startswith("preflight")]
    sessions = [step for step, verb in done.did.items() if step.startswith("session:") and verb == "measured"]
    assert len(sessions) == 3
    report = shipped.path("artifacts/reports/review/report.md").read_text()
    assert "unsafe-host: no sandbox" in report
    rows = [json.loads(line) for line in shipped.path("artifacts/reports/review/results.jsonl").read_text().splitlines()]
    assert {row["sandbox_backend"] for row in rows} == {"host-unsafe"}
    assert {row["arm"]: row["resolved"] for row in rows} == {"nop": False, "gold": True, "incumbent": True}
    assert {shipped.plan(*ONE, UNSAFE)[step] for step in sessions} == {"current"}
    assert {shipped.plan(*ONE)[step] for step in sessions} == {"measure"}, "no evidence of the host stands for the sandbox's"
    done = shipped.doit(*ONE)
    assert done.code == 0, done.stdout + done.stderr
    assert "unsafe-host" not in done.stderr + shipped.path("artifacts/reports/review/report.md").read_text()
    assert {shipped.plan(*ONE, UNSAFE)[step] for step in sessions} == {"restore"}, "and the sandbox's not for the host's"


@pytest.mark.slow
def test_what_was_measured_on_the_host_is_never_applied(shipped: Bench) -> None:
    (shipped.root / ".gitignore").write_text("artifacts/\n")
    commit(shipped.root)
    done = shipped.doit("-n", "2", "suite:review", UNSAFE)
    assert done.code == 0, done.stdout + done.stderr
    assert shipped.doit("promotion:review/candidate", UNSAFE).code == 0
    said = shipped.doit("apply:review/candidate", UNSAFE)
    assert (said.code, said.stdout) == (1, "")
    assert "was measured without a sandbox" in said.stderr
    assert shipped.doit("apply:review/candidate").code == 1
    tree = subprocess.run(["git", "status", "--short"], cwd=shipped.root, check=True, capture_output=True, text=True)
    assert tree.stdout == ""
