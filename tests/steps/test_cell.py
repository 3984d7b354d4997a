"""A session becomes a cell, from the store alone and the same each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.core import digest, records
from bench.core.records import Record
from bench.effects.changes import Changes
from bench.effects.grading import patches, staging
from tests.steps.grading_jobs import FIXED, Case, changed


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("case"))


@pytest.fixture(scope="module")
def learned(case: Case) -> Record:
    return case.expected()


def test_a_right_solution_is_resolved_priced_and_kept_as_a_patch(case: Case, learned: Record) -> None:
    session = case.session(changed({"src/calc.py": FIXED}))
    made = case.cell(session, learned)
    body = made.body
    assert (made.state, body["error_kind"], body["resolved"], body["ok"]) == ("final", None, True, True)
    assert body["authored_tests_passed"] is True
    assert body["authored_test_output"] == "ok in <time>"
    assert body["oracle_passed"] is True
    assert body["oracle"]["counts"] == {"expected": 2, "passed": 2, "failed": 0, "missing": 0, "unexpected": 0}
    assert (body["diff_files"], body["diff_insertions"], body["diff_deletions"]) == (1, 1, 1)
    assert body["cost_usd"] == body["list_price_usd"] == 0.0045
    assert body["input_tokens"] == 1000
    assert body["session_key"] == "session-key"
    assert body["sanitized_task_sha"] == case.template.body["commit"]
    assert body["oracle_manifest_digest"] == case.oracle.body["manifest_digest"]
    assert body["alarms"] == []
    assert digest.is_digest(body["churn_digest"])
    staged = staging.stage(case.context.store, case.template, None, scratch=case.context.scratch, cancel=case.context.cancel)
    patch = case.context.store.get(made.outputs["patch"].blob)
    again = patches.to_changes(patch, staged.template, staged.commit, cancel=case.context.cancel)
    assert again == changed({"src/calc.py": FIXED})


def test_the_same_session_makes_the_same_cell_again(case: Case, learned: Record) -> None:
    """Design section 3: a cell is byte-identical, given the same session record."""
    session = case.session(changed({"src/calc.py": "def double(n):\n    return object()\n"}))
    params = {"verify": "python -c 'import time; print(object(), time.time()); raise SystemExit(3)'"}
    first, second = (digest.canonical(case.cell(session, learned, **params).body) for _ in range(2))
    assert first == second
    assert not list(case.context.scratch.iterdir())


def test_a_wrong_solution_fails_the_oracle_and_tells_only_numbers(case: Case, learned: Record) -> None:
    made = case.cell(case.session(changed({"src/calc.py": "def double(n):\n    return 1\n"})), learned)
    assert made.body["error_kind"] == "oracle-failed"
    assert made.body["oracle"]["counts"]["failed"] == 1
    assert b"test_zero" not in digest.canonical(made.body)
    assert made.state == "final"


def test_red_authored_tests_come_first(case: Case, learned: Record) -> None:
    made = case.cell(case.session(changed({"src/calc.py": FIXED, "check.py": "raise SystemExit('boom')"})), learned)
    assert made.body["error_kind"] == "verify-failed"
    assert made.body["authored_test_output"] == "boom"
    assert made.body["oracle_passed"] is True
    assert made.body["resolved"] is False


def test_no_change_is_no_work_and_fails_the_oracle(case: Case, learned: Record) -> None:
    made = case.cell(case.session(Changes()), learned)
    assert made.body["error_kind"] == "no-work-produced"
    assert made.body["oracle_passed"] is False
    assert made.body["churn_digest"] is None
    assert case.context.store.get(made.outputs["patch"].blob) == b""


def test_a_verifier_time_out_is_no_verdict(case: Case, learned: Record) -> None:
    """Case 17: not the agent's time-out, and not a failed test."""
    made = case.cell(case.session(changed({"src/calc.py": FIXED})), learned, verify="sleep 30", verify_s=0.5)
    assert (made.body["error_kind"], made.body["error_class"]) == ("infra-error", "verifier-timeout")
    assert made.state == "unusable"


@pytest.mark.parametrize(
    ("state", "kind", "cls"),
    [
        ("unusable", "session-error", "session-timeout"),
        ("unusable", "infra-error", "setup-failed"),
        ("not_run", "cancelled", "cancelled"),
    ],
)
def test_a_session_without_evidence_is_carried_through_ungraded(case: Case, state: str, kind: str, cls: str) -> None:
    session = case.session(None, state=state, error_kind=kind, error_class=cls, error_detail="why")
    made = case.cell(session, None)
    assert (made.state, made.body["error_kind"], made.body["error_class"]) == (state, kind, cls)
    assert made.body["oracle_passed"] is None
    assert made.outputs == {}


def test_unknown_usage_or_price_costs_null_and_not_nothing(case: Case, learned: Record) -> None:
    session = case.session(changed({"src/calc.py": FIXED}), usage=None)
    assert case.cell(session, learned).body["cost_usd"] is None
    priced = case.cell(case.session(changed({"src/calc.py": FIXED})), learned, prices=None)
    assert priced.body["cost_usd"] is None
    assert priced.body["input_tokens"] == 1000


def test_an_oracle_that_taught_nothing_leaves_the_cell_unusable(case: Case, learned: Record) -> None:
    broken = records.sealed(Record("expected", "e", "k", {}, {}, records.UNUSABLE, "the gold patch does not apply", {}, {}))
    made = case.cell(case.session(changed({"src/calc.py": FIXED})), broken)
    assert (made.body["error_kind"], made.state) == ("oracle-unavailable", "unusable")
    assert made.body["resolved"] is False


def test_alarms_name_what_the_session_did(case: Case, learned: Record) -> None:
    event = {"type": "tool_use", "input": {"command": "git log --all; cat /oracle/test_hidden.py"}}
    left = changed({"src/calc.py": FIXED, "conftest.py": "", "reward.json": "{}"})
    made = case.cell(case.session(left, events=(event,)), learned)
    kinds = sorted(alarm["kind"] for alarm in made.body["alarms"])
    assert kinds == ["history-probing", "oracle-name", "planted-file", "verdict-file"]
    assert made.body["resolved"] is True


RUN_TESTS = 'python -m pytest -q --junitxml="$BENCH_ORACLE_REPORT" "$BENCH_ORACLE_ROOT"'
COMMANDS = [
    ({"command": 'PYTHONPATH=src python "$BENCH_ORACLE_ROOT/check.py"'}, FIXED, True),
    ({"command": 'PYTHONPATH=src python "$BENCH_ORACLE_ROOT/check.py"'}, "def double(n):\n    return 7\n", False),
    ({"command": 'cd src && python "$THEIR_ROOT/check.py"'}, FIXED, True),
    ({"command": f'PYTHONPATH=src {RUN_TESTS}', "report": "pytest"}, FIXED, True),
    ({"command": "true", "report": "pytest"}, FIXED, False),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "source", "passes"), COMMANDS)
def test_a_command_oracle_reports_by_status_or_with_a_report(
    tmp_path: Path, asked: dict[str, str], source: str, passes: bool
) -> None:
    case = Case(tmp_path)
    check = b"import sys, os; sys.path.insert(0, os.getcwd())\nimport calc\nassert calc.double(0) == 0\n"
    test = b"import calc\n\ndef test_it():\n    assert calc.double(0) == 0\n"
    case.oracle = case.sealed(asked, {"check.py": check, "test_it.py": test})
    aliases = {"BENCH_ORACLE_ROOT": "THEIR_ROOT"}
    made = case.cell(case.session(changed({"src/calc.py": source})), None, aliases=aliases)
    assert made.body["oracle_passed"] is passes


def test_a_marker_in_the_transcript_is_an_alarm_unless_the_workspace_has_it(case: Case, learned: Record) -> None:
    mine = ["oracles/mine/check.py", "THEIR_ORACLE_ROOT"]
    event = {
        "type": "tool_use",
        "input": {"command": "ls /x/oracles/mine/check.py $THEIR_ORACLE_ROOT; cat corpus/demo.yaml"},
    }
    made = case.cell(case.session(changed({"src/calc.py": FIXED}), events=(event,)), learned, markers=mine)
    said = sorted(alarm["detail"].rpartition(" ")[2] for alarm in made.body["alarms"] if alarm["kind"] == "oracle-name")
    assert said == ["THEIR_ORACLE_ROOT", "corpus/demo.yaml", "oracles/mine/check.py"]
    left = changed({"src/calc.py": FIXED, "notes.txt": "oracles/mine/check.py THEIR_ORACLE_ROOT", "corpus/demo.yaml": ""})
    assert case.cell(case.session(left, events=(event,)), learned, markers=mine).body["alarms"] == []
