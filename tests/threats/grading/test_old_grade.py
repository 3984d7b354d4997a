"""SWE-bench run_instance: same run id, model and instance, another patch, and the old grade came back.

Guard: a cell's key holds the content of its session, oracle and expectation, so another patch, or another oracle for the
same patch, is another cell; the session's key holds neither, so it is not paid for again.
"""

from __future__ import annotations

from pathlib import Path

from bench.core import keys
from bench.core.records import Record
from tests.steps.grading_jobs import FIXED, ORACLE, Case, changed

WRONG = "def double(n):\n    return 1\n"


def key_of(session: Record, oracle: Record) -> str:
    signed = keys.signature("cell", 1, {"verify": "true"}, ["session", "oracle"], "b3:" + "0" * 64)
    return keys.key(signed, {"session": session.content, "oracle": oracle.content}, {})


def test_another_patch_under_the_same_name_is_graded_anew(tmp_path: Path) -> None:
    case = Case(tmp_path)
    learned = case.expected()
    right, wrong = case.session(changed({"src/calc.py": FIXED})), case.session(changed({"src/calc.py": WRONG}))
    assert (right.name, right.key) == (wrong.name, wrong.key)
    assert key_of(right, case.oracle) != key_of(wrong, case.oracle)
    assert case.cell(right, learned).body["resolved"] is True
    assert case.cell(wrong, learned).body["resolved"] is False


def test_another_oracle_grades_the_same_session_anew(tmp_path: Path) -> None:
    case = Case(tmp_path)
    session = case.session(changed({"src/calc.py": FIXED}))
    other = case.sealed(ORACLE, {"test_hidden.py": b"def test_no(): assert 0\n"})
    assert key_of(session, case.oracle) != key_of(session, other)
