"""`doit apply:…`: a promoted candidate goes into the tree with its mirrors, or it is said why not and nothing is changed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.effects import clock
from bench.effects.swap import places, recovery, replacing
from bench.effects.swap.replacing import Replacement
from bench.errors import ApplyFailed
from bench.make import applying
from tests.make import workspaces
from tests.make.workspaces import Bench

APPLY = "apply:tiny/candidate"
STAGED = ".assay-0123456789ab-0"
SKILL, MIRROR = "corpus/skills/mend/SKILL.md", "plugin/skills/mend/SKILL.md"
pytestmark = pytest.mark.slow


def diff(bench: Bench) -> list[str]:
    said = subprocess.run(["git", "status", "--short"], cwd=bench.root, check=True, capture_output=True, text=True)
    return sorted(said.stdout.split("\n")[:-1])


def refused(bench: Bench, what: str, *, left: list[str] | None = None) -> None:
    done = bench.doit(APPLY)
    assert (done.code, done.stdout) == (1, ""), done.stdout + done.stderr
    assert what in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert diff(bench) == (left or [])


def test_skill_and_mirror_are_an_ordinary_diff_and_a_second_time_is_refused(promoted: Bench) -> None:
    done = promoted.doit(APPLY)
    assert done.code == 0, done.stdout + done.stderr
    assert diff(promoted) == [f" M {SKILL}", f" M {MIRROR}"]
    assert promoted.path(SKILL).read_text() == promoted.path("corpus/candidates/mend/mend/SKILL.md").read_text()
    assert promoted.path(SKILL).read_bytes() == promoted.path(MIRROR).read_bytes()
    applied = promoted.journal()[-1]
    assert (applied["event"], applied["files"]) == ("applied", [SKILL, MIRROR])
    again = promoted.doit(APPLY)
    assert (again.code, "evidence is not up to date" in again.stderr) == (1, True)


def test_what_was_not_promoted_is_refused_with_its_reason(promoted: Bench) -> None:
    promoted.edit("corpus/tiny.yaml", '"runs": 3', '"promotion": {"metric": "cost_usd", "min_runs": 4},\n "runs": 3')
    workspaces.commit(promoted.root)
    refused(promoted, "evidence is not up to date: promotion:tiny/candidate")
    assert promoted.doit("promotion:tiny/candidate").code == 1
    refused(promoted, "NOT PROMOTED: the decision is insufficient_evidence")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda root: (root / MIRROR).write_text("mine"), f"{MIRROR}: is not what was measured"),
        (lambda root: (root / MIRROR).unlink(), f"{MIRROR}: is missing"),
        (lambda root: ((root / MIRROR).write_text("mine"), workspaces.commit(root)), f"{MIRROR} was committed with other"),
        (lambda root: subprocess.run(["git", "rm", "-q", "--cached", MIRROR], cwd=root, check=True), "is missing"),
        (lambda root: subprocess.run(["rm", "-r", ".git"], cwd=root, check=True), f"{MIRROR} is not committed"),
    ],
    ids=["edited", "missing", "committed otherwise", "unstaged", "no repository"],
)
def test_a_mirror_that_is_not_the_measured_one_is_named(
    promoted: Bench, change: Callable[[Path], object], what: str
) -> None:
    if what == "is missing":
        change(promoted.root)
        assert promoted.doit(APPLY).code == 0  # what HEAD holds counts, not what is staged
        return
    change(promoted.root)
    done = promoted.doit(APPLY)
    assert (done.code, what in done.stderr) == (1, True), done.stderr
    assert promoted.path(SKILL).read_text() == workspaces.SKILL


def test_revoked_evidence_is_not_applied(promoted: Bench) -> None:
    assert promoted.doit("clean", "session:tiny/add/candidate/1", "--yes").code == 0
    refused(promoted, "evidence is not up to date: session:tiny/add/candidate/1")


def test_a_tampered_promotion_is_not_applied(promoted: Bench) -> None:
    promoted.edit("artifacts/promotions/tiny/candidate.json", '"promote"', '"promotes"')
    done = promoted.doit(APPLY)
    assert (done.code, promoted.path(SKILL).read_text()) == (1, workspaces.SKILL)
    assert "evidence is not up to date: promotion:tiny/candidate" in done.stderr


def test_an_interrupted_apply_is_undone_first(promoted: Bench) -> None:
    wanted = [Replacement(path, workspaces.SKILL.encode(), b"half") for path in (SKILL, MIRROR)]
    replacing.replace_all(promoted.root, wanted[:1], {})
    entry = recovery.Entry(SKILL, STAGED, *(recovery.digest.of_bytes(data) for data in (wanted[0].base, b"half")))
    promoted.path(SKILL).with_name(STAGED).write_bytes(wanted[0].base)
    root = places.open_root(promoted.root)
    recovery.write(root, recovery.OPEN, [entry], {})
    assert promoted.path(SKILL).read_text() == "half"
    bare = promoted.doit()
    assert (bare.code, "an apply was interrupted, and the tree may be half new" in bare.stderr) == (1, True)
    refused(promoted, "an interrupted apply was undone; nothing else was done; run it again")
    assert promoted.doit(APPLY).code == 0
    assert diff(promoted) == [f" M {SKILL}", f" M {MIRROR}"]


TIDYING = """
import os, re, signal, sys
def hook(event, arguments):
    if event == "os.remove" and re.fullmatch(r"\\.assay-[0-9a-f]{12}-0", str(arguments[0])):
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
"""
"""Ctrl-C just when the tree is new, and the first of the old files is about to be deleted."""


def test_an_interrupt_after_the_last_exchange_is_told_what_was_done(promoted: Bench, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(TIDYING)
    done = promoted.doit(APPLY, env={"PYTHONPATH": f"{tmp_path}:{workspaces.CODE}"})
    assert diff(promoted) == [f" M {SKILL}", f" M {MIRROR}"]
    applied = promoted.journal()[-1]
    assert (applied["event"], applied["files"]) == ("applied", [SKILL, MIRROR])
    assert [line for line in done.stdout.splitlines() if line.startswith("changed")] == [
        f"changed   {SKILL}",
        f"changed   {MIRROR}",
    ]
    assert "the interrupt came after it was applied, and undoes nothing" in done.stderr
    assert done.code == 130


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("apply",), "apply of what?"),
        ((APPLY, "suite:tiny"), "apply is not mixed with other steps"),
        (("apply:tiny/candidat",), "did you mean apply:tiny/candidate?"),
        (("apply:tiny/incumbent",), "no step 'apply:tiny/incumbent'"),
    ],
)
def test_what_cannot_be_meant_is_refused(promoted: Bench, words: tuple[str, ...], what: str) -> None:
    done = promoted.doit(*words)
    assert (done.code, what in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("arms=incumbent,candidate", "arms=: leaves out of the suite's file: arm nop, arm gold"),
        ("runs=2", "runs=: leaves out of the suite's file: 1 of 3 runs"),
        ("min_runs=2", "min_runs=: asks for less than the suite's file"),
        ("max_task_regression_pct=500", "max_task_regression_pct=: asks for less than the suite's file"),
        ("metric=num_turns", "metric=: asks for less than the suite's file"),
    ],
)
def test_words_that_ask_for_less_than_the_suites_file_apply_nothing(promoted: Bench, word: str, what: str) -> None:
    """Spec 5.1: what is applied was decided on the suite's tasks, arms and policy."""
    assert promoted.doit(word, "suite:tiny").code == 0
    done = promoted.doit(word, APPLY)
    assert (done.code, what in done.stderr) == (2, True), done.stderr
    assert diff(promoted) == []


def test_a_bare_doit_applies_nothing(promoted: Bench) -> None:
    assert promoted.doit().code == 0
    assert diff(promoted) == []


@pytest.mark.parametrize(
    ("generated", "expires", "what"),
    [
        ("2020-01-01T00:00:00Z", "2020-03-31T00:00:00Z", "expired at 2020-03-31"),
        ("2999-01-01T00:00:00Z", "2999-03-31T00:00:00Z", "in the future"),
    ],
)
def test_expired_and_future_evidence_is_refused(generated: str, expires: str, what: str) -> None:
    with pytest.raises(ApplyFailed, match=what):
        applying._check_times({"generated_at": generated, "evidence_expires_at": expires}, "promotion:x/y")


def test_evidence_of_today_is_not() -> None:
    day = clock.datetime.timedelta(days=1)
    stamps = {"generated_at": clock.stamp(), "evidence_expires_at": clock.stamp(clock.now_utc() + day)}
    applying._check_times(stamps, "promotion:x/y")


def test_after_a_promotion_the_new_incumbent_is_measured_afresh(promoted: Bench) -> None:
    """The rows that won were selected, so they are not the new incumbent's: its role is in the key."""
    assert promoted.doit(APPLY).code == 0
    workspaces.commit(promoted.root)
    won = {promoted.record(f"artifacts/sessions/tiny/add/candidate/{run}.json")["key"] for run in range(3)}
    done = promoted.doit("arms=nop,gold,incumbent")  # the overlay that was applied differs in nothing now
    assert done.code == 0, done.stdout + done.stderr
    steps = [f"session:tiny/add/incumbent/{run}" for run in range(3)]
    assert [done.did.get(step) for step in steps] == ["measured"] * 3
    new = [promoted.record(f"artifacts/sessions/tiny/add/incumbent/{run}.json") for run in range(3)]
    assert not won.intersection(record["key"] for record in new)
    rows = [json.loads(line) for line in promoted.path("artifacts/reports/tiny/results.jsonl").read_text().splitlines()]
    assert [row["resolved"] for row in rows if row["arm"] == "incumbent"] == [True] * 3
