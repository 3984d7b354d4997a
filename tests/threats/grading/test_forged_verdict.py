"""A session writes verdicts of its own, leaves something running, or reaches for the grader's machinery.

dawn 14 and pier 51: an agent writes reward.json. stella 2131 and aws-blocks 183: a daemon edits files during grading, or
everything is killed. Guards: verdicts are read from nowhere but our own channel and init; grading starts after the last
process is dead, on a view rebuilt from the store.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.core import digest
from bench.core.records import Record
from bench.effects import changes
from bench.effects.grading import staging
from tests.effects.grading.rooms import Room
from tests.steps.grading_jobs import FIXED, Case, changed

WRONG = "def double(n):\n    return 1\n"


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("case"))


@pytest.fixture(scope="module")
def learned(case: Case) -> Record:
    return case.expected()


VERDICTS = {
    "reward.json": '{"reward": 1.0}',
    "reward.txt": "1",
    "logs/verifier/reward.txt": "1",
    "verdict.json": '{"passed": true}',
    "score.json": '{"score": 1}',
    "promotion.json": '{"decisions": [{"decision": "promote"}]}',
}


@pytest.mark.parametrize("path", sorted(VERDICTS))
def test_a_written_verdict_is_ignored_and_an_alarm(case: Case, learned: Record, path: str) -> None:
    """Guard: no file of a workspace is ever read as a verdict."""
    made = case.cell(case.session(changed({"src/calc.py": WRONG, path: VERDICTS[path]})), learned)
    assert made.body["oracle_passed"] is False
    assert [alarm["kind"] for alarm in made.body["alarms"]] == ["verdict-file"]


def test_printed_passes_of_the_authored_tests_are_no_pass(case: Case, learned: Record) -> None:
    """Guard: the authored tests' status is that of our init; their text is kept for people and believed by nobody."""
    made = case.cell(case.session(changed({"check.py": "print('2 passed in 0.01s')\nraise SystemExit(1)\n"})), learned)
    assert made.body["authored_tests_passed"] is False


def test_a_written_test_report_does_not_speak_for_a_command_oracle(tmp_path: Path) -> None:
    """Guard: the report's name is random, and the status still counts."""
    case = Case(tmp_path)
    case.oracle = case.sealed(
        {"command": 'python "$BENCH_ORACLE_ROOT/c.py"', "report": "pytest"}, {"c.py": b"raise SystemExit(1)\n"}
    )
    report = '<testsuites><testcase classname="t" name="a"/></testsuites>'
    made = case.cell(case.session(changed({"src/calc.py": WRONG, "report.xml": report})), None)
    assert made.body["oracle_passed"] is False


def test_a_fifo_in_place_of_a_test_report_blocks_nobody(tmp_path: Path) -> None:
    """Guard: a report is sent on only if it is a regular file."""
    case = Case(tmp_path)
    case.oracle = case.sealed({"command": 'mkfifo "$BENCH_ORACLE_REPORT"', "report": "pytest"}, {"c.py": b""})
    made = case.cell(case.session(changed({"src/calc.py": FIXED})), None, oracle_s=30)
    assert made.body["oracle_passed"] is False


def test_hidden_output_is_kept_nowhere(tmp_path: Path) -> None:
    """Guard: only verdict and counts leave the hidden run; its output, ids and place do not."""
    secret = "THE-HIDDEN-VALUE"
    text = f"import calc, sys\n\ndef test_secret_name():\n    print({secret!r}); sys.stderr.write({secret!r})\n"
    case = Case(tmp_path, hidden=f"{text}    assert calc.double(0) == 0, {secret!r}\n")
    learned = case.expected()
    made = case.cell(case.session(changed({"src/calc.py": WRONG})), learned)
    assert made.body["oracle_passed"] is False
    kept = digest.canonical(made.body) + b"".join(case.context.store.get(b.blob) for b in made.outputs.values())
    assert secret.encode() not in kept
    assert b"secret_name" not in kept
    assert b"/oracle-" not in kept


def test_a_daemon_is_dead_before_grading(tmp_path: Path) -> None:
    """stella 2131: a process outlives the session and edits files while they are graded. Guard: the PID namespace dies."""
    room = Room(tmp_path, {"src/m.py": "x = 1\n"})
    room.agent(
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        for fd in range(3): os.close(fd)\n"
        "        while True:\n"
        "            open('src/m.py', 'a').write('# still here\\n'); time.sleep(0.01)\n"
        "    os._exit(0)\n"
        "time.sleep(0.3)\n"
    )
    first = room.collect()
    assert b"still here" in first.entries[0].data
    assert room.collect() == first


def test_grading_sees_the_stored_changes_and_not_the_sessions_layer(case: Case, learned: Record) -> None:
    """Guard: the layer of a session is never graded: it is rebuilt from the store, and thrown away again."""
    staged = staging.stage(
        case.context.store, case.template, case.assets, scratch=case.context.scratch, cancel=case.context.cancel
    )
    value = changed({"src/calc.py": FIXED})
    with staging.view(staged, value) as view:
        assert changes.collect(view.workspace, cancel=case.context.cancel) == value
    assert not list(case.context.scratch.iterdir())


def test_what_authored_tests_write_does_not_reach_the_oracle(case: Case, learned: Record) -> None:
    """Guard: each verifier gets a frozen view of its own."""
    rewrite = "open('src/calc.py', 'w').write('def double(n):\\n    return n + n\\n')\n"
    made = case.cell(case.session(changed({"src/calc.py": WRONG, "check.py": rewrite})), learned)
    assert made.body["authored_tests_passed"] is True
    assert made.body["oracle_passed"] is False


def test_a_network_is_missing_from_both_verifiers(tmp_path: Path) -> None:
    """Guard: verifiers run without any network, so nothing can ask for the answer or send the tests away."""
    probe = (
        "import socket\ndef up():\n    s = socket.socket(); s.settimeout(2)\n"
        "    try: s.connect(('127.0.0.1', 1)); return 'up'\n    except OSError as e: return e.errno\n"
    )
    check = "import sys; sys.path.insert(0, 'src')\nimport calc\nprint(calc.up())\n"
    case = Case(tmp_path, files={"src/calc.py": probe + WRONG, "check.py": check})
    hidden = (
        b"import calc, socket\n\ndef test_names():\n    try: socket.getaddrinfo('example.org', 80)\n"
        b"    except OSError: return\n    assert 0\n"
    )
    case.oracle = case.sealed({"pytest": True, "paths": ["test_n.py"], "pythonpath": ["src"]}, {"test_n.py": hidden})
    made = case.cell(case.session(changed({"note": "x"})), None)
    assert made.body["authored_test_output"] in ("111", "101")
    assert made.body["oracle_passed"] is True
