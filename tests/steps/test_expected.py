"""What gold teaches, and what it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.errors import StepFailed
from tests.steps.grading_jobs import FIXED, HIDDEN, PATCH, Case, changed

UNSTEADY = (
    HIDDEN
    + """
import os, pytest, time

@pytest.mark.parametrize("when", [time.time_ns()])
def test_clock(when): pass

@pytest.mark.parametrize("thing", [object()], ids=repr)
def test_address(thing): pass

@pytest.mark.xfail
def test_known(): assert 0

@pytest.mark.skip
def test_not_here(): pass

def test_never(): assert 0

def test_home_is_fresh(): assert not os.path.exists("/workspace/left-behind")
"""
)


def test_ids_that_pass_twice_are_expected_and_the_rest_is_dropped_by_name(tmp_path: Path) -> None:
    case = Case(tmp_path, hidden=UNSTEADY)
    learned = case.expected()
    body = learned.body
    assert body["ids"] == [f"test_hidden.py::{name}" for name in ("test_home_is_fresh", "test_kept", "test_zero")]
    assert {row["id"].split("::")[1]: row["why"] for row in body["dropped"]} == {
        "test_address": "its parameters differ from run to run",
        "test_clock": "its parameters differ from run to run",
        "test_known": "xfailed under gold",
        "test_never": "failed under gold",
        "test_not_here": "skipped under gold",
    }
    assert body["gold_passes"] is True
    assert body["separates"] is True
    assert body["bare"] == [f"test_hidden.py::{name}" for name in ("test_home_is_fresh", "test_kept")]
    # A right solution passes although the unsteady tests have other names by now.
    assert case.cell(case.session(changed({"src/calc.py": FIXED})), learned).body["resolved"] is True


def test_a_hexadecimal_number_of_the_test_itself_is_no_address(tmp_path: Path) -> None:
    hidden = "import pytest\n@pytest.mark.parametrize('text', ['0x123abc', '0x7f12a4c3'])\ndef test_number(text): pass\n"
    body = Case(tmp_path, hidden=hidden).expected().body
    assert body["ids"] == ["test_hidden.py::test_number[0x123abc]"]
    assert [row["why"] for row in body["dropped"]] == ["its parameters hold an address"]


def test_an_oracle_that_cannot_tell_gold_from_nothing_says_so(tmp_path: Path) -> None:
    body = Case(tmp_path, hidden="def test_nothing(): pass\n").expected().body
    assert (body["gold_passes"], body["separates"]) == (True, False)


def test_an_oracle_that_gold_fails_says_so(tmp_path: Path) -> None:
    body = Case(tmp_path, hidden="def test_no(): assert 0\n").expected().body
    assert (body["ids"], body["gold_passes"], body["separates"]) == ([], False, False)


@pytest.mark.parametrize(
    ("hidden", "why"), [("import nowhere\n", "do not run under gold"), ("x = 1\n", "do not run under gold")]
)
def test_tests_that_do_not_even_run_under_gold_are_a_broken_task(tmp_path: Path, hidden: str, why: str) -> None:
    with pytest.raises(StepFailed, match=why):
        Case(tmp_path, hidden=hidden).expected()


def test_a_task_without_a_runner_is_told_so(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.assets = None  # type: ignore[assignment]
    with pytest.raises(StepFailed, match="no usable pytest"):
        case.expected()


def test_an_oracle_that_is_too_slow_under_gold_names_the_limit(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match=r"hit its limit under gold \(time\)"):
        Case(tmp_path, hidden="import time\ndef test_slow(): time.sleep(60)\n").expected(oracle_s=3)


def test_a_command_oracle_is_learned_by_its_status(tmp_path: Path) -> None:
    case = Case(tmp_path)
    check = b"import sys; sys.path.insert(0, 'src')\nimport calc\nassert calc.double(0) == 0\n"
    case.oracle = case.sealed({"command": 'python "$BENCH_ORACLE_ROOT/check.py"'}, {"check.py": check})
    body = case.expected(case.gold(PATCH)).body
    assert (body["ids"], body["gold_passes"], body["separates"]) == ([], True, True)


ROOT, REPORT = "GITNEXUS_BENCH_ORACLE_ROOT", "GITNEXUS_BENCH_ORACLE_REPORT"
ALIASES = {"BENCH_ORACLE_ROOT": ROOT, "BENCH_ORACLE_REPORT": REPORT}


@pytest.mark.parametrize(
    ("said", "file", "text", "ids"),
    [
        (
            {"command": f'python "${ROOT}/check.py"'},
            "check.py",
            b"import sys; sys.path.insert(0, 'src')\nimport calc\nassert calc.double(0) == 0\n",
            [],
        ),
        (
            {
                "command": f'python -m pytest -q --rootdir "${ROOT}" --junitxml="${REPORT}" "${ROOT}/test_it.py"',
                "report": "pytest",
            },
            "test_it.py",
            b"import sys; sys.path.insert(0, 'src')\nimport calc\ndef test_zero(): assert calc.double(0) == 0\n",
            ["test_it::test_zero"],
        ),
    ],
    ids=["exit", "pytest"],
)
def test_a_migrated_command_learns_under_its_own_variable_names(
    tmp_path: Path, said: dict[str, str], file: str, text: bytes, ids: list[str]
) -> None:
    case = Case(tmp_path)
    case.oracle = case.sealed(said, {file: text})
    learned = case.expected(case.gold(PATCH), aliases=ALIASES)
    assert (learned.body["gold_passes"], learned.body["separates"]) == (True, True)
    assert [test.rpartition(".")[2] for test in learned.body["ids"]] == ids
    assert case.cell(case.session(changed({"src/calc.py": FIXED})), learned, aliases=ALIASES).body["resolved"] is True
