"""Hidden and visible runs as honest projects need them: the habits of real test suites work, and leave no trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.core import verdict
from bench.effects.grading import verifiers
from bench.effects.grading.verifiers import Hidden
from bench.errors import Cancelled
from tests.effects.grading.rooms import Files, Room

SOURCE = {"src/m.py": "def f(n=1):\n    return n + 1\n", "data.txt": "beside\n"}

SUITE = """
import os, subprocess, sys, unittest, warnings
from pathlib import Path
from unittest import mock

import pytest
import m
from helper import ANSWER


@pytest.fixture
def number(): yield 1

@pytest.fixture(scope="module", autouse=True)
def shared(tmp_path_factory): yield tmp_path_factory.mktemp("x")

@pytest.fixture
def late(): yield; assert 0, "in teardown"

@pytest.fixture
def early(): assert 0, "in setup"

@pytest.mark.parametrize("n, to", [(1, 2), (2, 3), pytest.param(3, 4, id="odd [name]")])
def test_many(n, to): assert m.f(n) == to

def test_fixture(number, shared, monkeypatch, capsys, tmp_path, caplog, recwarn, request):
    monkeypatch.setattr(m, "f", lambda: 7); print("x"); assert m.f() == 7 and capsys.readouterr().out == "x\\n"
    monkeypatch.setattr("builtins.open", None); assert open is None

class TestGroup:
    class TestInner:
        def test_deep(self): assert m.f() == ANSWER
    @staticmethod
    def test_static(): pass
    @classmethod
    def test_class(cls): pass

class Old(unittest.TestCase):
    @classmethod
    def setUpClass(cls): cls.n = 1
    def setUp(self): self.addCleanup(lambda: None)
    def test_old(self): self.assertEqual(m.f(self.n), 2)
    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n): self.assertEqual(m.f(n), n + 1)
    def test_a_part_fails(self):
        for n in range(3):
            with self.subTest(n=n): self.assertNotEqual(n, 1)
    def test_a_part_is_skipped(self):
        with self.subTest(n=1): self.skipTest("x")
    @unittest.skip("x")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_known(self): assert 0
    @mock.patch("os.getcwd", return_value="/x")
    def test_patched(self, getcwd): assert os.getcwd() == "/x"

def test_subtests(subtests):
    for n in range(3):
        with subtests.test(n=n): assert m.f(n) == n + 1

def test_subtests_fail(subtests):
    for n in range(3):
        with subtests.test(n=n): assert n != 1

def test_child(): assert subprocess.run([sys.executable, "-c", "import m; raise SystemExit(m.f(40))"]).returncode == 41
def test_beside(): assert Path("data.txt").read_text() == "beside\\n"
def test_own_data(): assert Path(__file__).with_name("data.bin").read_bytes() == b"\\0"
def test_fork():
    if os.fork() == 0: os._exit(0)
    os.wait()
def test_writes(): Path("/workspace/made").write_text("x"); os.chmod("/workspace/src", 0o700)
def test_exits():
    with pytest.raises(SystemExit): sys.exit(3)
def test_warns():
    with pytest.warns(UserWarning): warnings.warn("x")
def test_from_conftest(given): assert given == 5
@pytest.mark.slow
def test_marked(): pass
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.xfail(strict=True)
def test_strict(): pass
def test_red(): assert m.f() == 3
def test_setup_fails(early): pass
def test_teardown_fails(late): pass
"""
OUTCOMES = {
    "test_many[1-2]": "passed",
    "test_many[2-3]": "passed",
    "test_many[odd [name]]": "passed",
    "test_fixture": "passed",
    "TestGroup::TestInner::test_deep": "passed",
    "TestGroup::test_static": "passed",
    "TestGroup::test_class": "passed",
    "Old::test_old": "passed",
    "Old::test_parts": "passed",
    "Old::test_a_part_fails": "failed",
    "Old::test_skipped": "skipped",
    "Old::test_known": "xfailed",
    "Old::test_patched": "passed",
    "test_subtests": "passed",
    "test_subtests_fail": "failed",
    "test_child": "passed",
    "test_beside": "passed",
    "test_own_data": "passed",
    "test_fork": "passed",
    "test_writes": "passed",
    "test_exits": "passed",
    "test_warns": "passed",
    "test_from_conftest": "passed",
    "test_marked": "passed",
    "test_xfail": "xfailed",
    "test_xpass": "xpassed",
    "test_strict": "failed",
    "test_red": "failed",
    "test_setup_fails": "error",
    "test_teardown_fails": "error",
}
CONFTEST = """
import pytest
@pytest.fixture
def given(): return 5
def pytest_collection_modifyitems(items): items.reverse()
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call): return (yield)
"""
BESIDE: Files = {
    "conftest.py": CONFTEST,
    "helper.py": "ANSWER = 2\n",
    "data.bin": b"\0",
    "pytest.ini": "[pytest]\nmarkers = slow\nfilterwarnings = error\n",
}


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path, SOURCE)


def test_the_habits_of_real_suites_work_without_a_trace(room: Room) -> None:
    run = room.hidden(
        {"tests/test_all.py": SUITE, **{f"tests/{k}": v for k, v in BESIDE.items()}} | {"pytest.ini": BESIDE["pytest.ini"]}
    )
    report = verdict.read(run.channel, run.nonce)
    seen = {name.removeprefix("tests/test_all.py::"): outcome for name, outcome in report.outcomes.items()}
    assert seen.pop("Old::test_a_part_is_skipped") in ("passed", "skipped")
    assert seen == OUTCOMES
    assert (report.status, report.patched, report.probes) == (1, frozenset(), frozenset())
    assert (run.exit, run.limit) == (0, None)


def test_the_sessions_files_are_untouched_by_verifiers(room: Room) -> None:
    room.hidden({"test_w.py": "from pathlib import Path\n\ndef test_w(): Path('/workspace/src/m.py').write_text('')\n"})
    assert not room.collect().any


def test_a_test_package_of_the_same_name_is_the_oracles(tmp_path: Path) -> None:
    room = Room(tmp_path, SOURCE | {"tests/__init__.py": "", "tests/common.py": "WHO = 'workspace'\n"})
    test = "from tests.common import WHO\n\ndef test_who(): assert WHO == 'oracle'\n"
    run = room.hidden(
        {"tests/__init__.py": "", "tests/common.py": "WHO = 'oracle'\n", "tests/test_who.py": test}, pythonpath=("src", ".")
    )
    assert verdict.read(run.channel, run.nonce).outcomes == {"tests/test_who.py::test_who": "passed"}


def test_arguments_choose_tests(room: Room) -> None:
    tests = {"test_x.py": "def test_one(): pass\n\ndef test_two(): pass\n"}
    run = room.hidden(tests, args=("-k", "one"))
    assert verdict.read(run.channel, run.nonce).outcomes == {"test_x.py::test_one": "passed"}


@pytest.mark.parametrize(
    "suite", ["import nowhere\n", "def broken(:\n", "raise SystemExit(0)\n", "import pytest; pytest.exit('x', 0)\n"]
)
def test_a_suite_that_cannot_be_collected_is_not_run(room: Room, suite: str) -> None:
    run = room.hidden({"test_x.py": suite})
    report = verdict.read(run.channel, run.nonce)
    assert report.status not in verdict.RAN
    assert not report.outcomes


def test_a_crash_leaves_no_report(room: Room) -> None:
    run = room.hidden({"test_x.py": "import os, signal\n\ndef test_x(): os.kill(os.getpid(), signal.SIGSEGV)\n"})
    assert (run.exit, run.channel) == (139, b""), run.channel


def test_time_is_bounded(room: Room) -> None:
    run = room.hidden({"test_x.py": "import time\n\ndef test_x(): time.sleep(60)\n"}, seconds=2)
    assert run.limit == "time", run.channel


def test_a_cancelled_run_is_ours_to_raise(room: Room) -> None:
    room.cancel.set()
    with pytest.raises(Cancelled):
        room.hidden({"test_x.py": "def test_x(): pass\n"})
    assert not list(room.tmp.glob("oracle-*"))


def test_a_missing_runner_is_named(room: Room) -> None:
    view = verifiers.View(room.view().workspace)
    run = room.hidden({"test_x.py": "def test_x(): pass\n"}, view=view)
    assert run.fault is not None
    assert "no usable pytest" in run.fault


def test_a_visible_command_sees_the_session_and_its_words_are_kept(room: Room) -> None:
    room.agent("open('new.py', 'w').write('print(1)')")
    done = verifiers.visible(
        room.view(), "python new.py && pwd && echo $PYTHONHASHSEED && exit 3", seconds=30, cancel=room.cancel
    )
    assert (done.exit, done.stdout) == (3, b"1\n/workspace\n0\n")


def test_a_command_gets_its_root_under_both_names_and_is_judged_by_status(room: Room) -> None:
    files = {"sub/check.sh": b'test "$BENCH_ORACLE_ROOT" = "$THEIRS" && test ! -w "$THEIRS/sub/check.sh" && exit 5\n'}
    oracle = Hidden(files, command='sh "$BENCH_ORACLE_ROOT/sub/check.sh"', aliases={"BENCH_ORACLE_ROOT": "THEIRS"})
    run = verifiers.hidden(room.view(), oracle, seconds=30, scratch=room.tmp, cancel=room.cancel)
    assert (run.exit, run.channel) == (5, b"")


def test_a_relative_path_from_the_oracle_leads_to_the_candidates_checkout(room: Room) -> None:
    oracle = Hidden({"c.sh": b'test -f "$(dirname "$0")/../workspace/src/m.py"\n'}, command='sh "$BENCH_ORACLE_ROOT/c.sh"')
    assert verifiers.hidden(room.view(), oracle, seconds=30, scratch=room.tmp, cancel=room.cancel).exit == 0
