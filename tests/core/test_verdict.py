"""A verdict needs every proof at once; each missing or forged one fails."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import verdict
from bench.core.verdict import Ended, Expected, Report

NONCE = "ab" * 32
GOLD = Expected(frozenset({"test_a.py::one", "test_a.py::two[x]"}), frozenset({"test_a.py::flaky"}))


def line(test: str, outcome: str = "passed") -> bytes:
    return b"T " + test.encode().hex().encode() + b" " + outcome.encode() + b"\n"


def sealed(*lines: bytes, count: int | None = None, status: int = 0, nonce: str = NONCE) -> bytes:
    tests = sum(entry.startswith(b"T") for entry in lines) if count is None else count
    body = verdict.HEADER + b"\n" + b"".join(lines) + f"E {status} {tests}\n".encode()
    return body + b"S " + verdict.seal(body, nonce).encode() + b"\n"


BOTH = (line("test_a.py::one"), line("test_a.py::two[x]"))


def judged(
    channel: bytes, *, exit: int | None = 0, limit: str | None = None, expected: Expected | None = GOLD
) -> verdict.Verdict:
    return verdict.judge(Ended(exit, limit, channel), NONCE, expected)


def test_exactly_the_expected_tests_passing_is_a_pass() -> None:
    found = judged(sealed(*BOTH))
    assert found.passed
    assert not found.failed
    assert not found.alarms
    assert found.counts == {"expected": 2, "passed": 2, "failed": 0, "missing": 0, "unexpected": 0}


def test_tests_that_gold_could_not_settle_may_do_anything() -> None:
    assert judged(sealed(*BOTH, line("test_a.py::flaky[0x7f]", "failed"), status=1)).passed


REFUSED = {
    "one failed": sealed(BOTH[0], line("test_a.py::two[x]", "failed"), status=1),
    "one errored": sealed(BOTH[0], line("test_a.py::two[x]", "error"), status=1),
    "one skipped": sealed(BOTH[0], line("test_a.py::two[x]", "skipped")),
    "one expected to fail": sealed(BOTH[0], line("test_a.py::two[x]", "xfailed")),
    "one missing": sealed(BOTH[0]),
    "one too many": sealed(*BOTH, line("test_b.py::new")),
    "no tests": sealed(status=5),
    "interrupted": sealed(*BOTH, status=2),
    "internal error": sealed(*BOTH, status=3),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_genuine_report_of_anything_else_fails_without_alarm(name: str) -> None:
    found = judged(REFUSED[name])
    assert found.failed
    assert not found.passed
    assert not found.alarms


FORGED = {
    "another nonce": sealed(*BOTH, nonce="cd" * 32),
    "printed text": b"PASSED\n2 passed in 0.01s\n",
    "no seal": sealed(*BOTH).rsplit(b"S ", 1)[0],
    "cut short": sealed(*BOTH)[:-20],
    "second end": sealed(*BOTH) + b"E 0 2\n",
    "second report": sealed(*BOTH) + sealed(*BOTH),
    "junk in front": b"x" + sealed(*BOTH),
    "junk behind": sealed(*BOTH) + b"x",
    "wrong count": sealed(*BOTH, count=3),
    "a test twice": sealed(*BOTH, BOTH[0]),
    "foreign line": sealed(*BOTH, b"OK all\n"),
    "foreign outcome": sealed(BOTH[0], line("test_a.py::two[x]", "great")),
    "line inserted": sealed(BOTH[0]).replace(b"E 0 1", BOTH[1] + b"E 0 2"),
    "only a seal": b"S " + verdict.seal(b"", NONCE).encode() + b"\n",
}


@pytest.mark.parametrize("name", sorted(FORGED))
def test_a_report_that_is_not_the_launchers_fails_and_alarms(name: str) -> None:
    found = judged(FORGED[name])
    assert found.failed
    assert not found.passed
    assert [kind for kind, _ in found.alarms] == ["tampered-grader"]


def test_status_zero_without_a_report_is_an_early_end() -> None:
    """os._exit(0) in the graded code."""
    found = judged(b"")
    assert found.failed
    assert found.alarms[0][0] == "tampered-grader"


def test_a_crash_without_a_report_fails_plainly() -> None:
    found = judged(b"", exit=139)
    assert found.failed
    assert not found.alarms


@pytest.mark.parametrize("exit", [1, 97, None, 137])
def test_a_whole_report_does_not_save_another_exit_status(exit: int | None) -> None:
    assert judged(sealed(*BOTH), exit=exit).failed


@pytest.mark.parametrize("limit", ["time", "output", "memory", "processes", "disk"])
def test_a_limit_is_no_judgement(limit: str) -> None:
    found = judged(sealed(*BOTH), limit=limit)
    assert not found.passed
    assert not found.failed
    assert found.limit == limit


def test_a_replaced_function_of_the_runner_fails_unless_gold_does_the_same() -> None:
    patched = b"X " + b"builtins.open".hex().encode() + b"\n"
    found = judged(sealed(*BOTH, patched))
    assert found.failed
    assert found.alarms == (("tampered-grader", "not the runner's own while tests ran: builtins.open"),)
    lenient = dataclasses.replace(GOLD, patched=frozenset({"builtins.open"}))
    assert judged(sealed(*BOTH, patched), expected=lenient).passed


def test_a_probe_only_alarms_unless_gold_does_the_same() -> None:
    probe = b"!" + b"ctypes.cdata".hex().encode() + b"\n"
    found = judged(probe + sealed(*BOTH))
    assert found.passed
    assert [kind for kind, _ in found.alarms] == ["probed-grader"]
    lenient = dataclasses.replace(GOLD, probes=frozenset({"ctypes.cdata"}))
    assert not judged(probe + sealed(*BOTH), expected=lenient).alarms


@pytest.mark.parametrize("name", sorted(verdict.GRAVE))
def test_a_probe_that_could_have_reached_the_recorder_fails(name: str) -> None:
    probe = b"!" + name.encode().hex().encode() + b"\n"
    found = judged(probe + sealed(*BOTH))
    assert found.failed
    assert [kind for kind, _ in found.alarms] == ["tampered-grader"]
    assert judged(probe + sealed(*BOTH), expected=dataclasses.replace(GOLD, probes=frozenset({name}))).passed


def test_a_touched_recorder_fails_with_an_alarm() -> None:
    assert judged(b"", exit=verdict.TOUCHED).alarms[0][0] == "tampered-grader"


def test_without_gold_every_test_that_ran_must_pass() -> None:
    assert judged(sealed(*BOTH, line("t::s", "skipped")), expected=None).passed
    assert judged(sealed(*BOTH, line("t::f", "failed"), status=1), expected=None).failed
    assert judged(sealed(status=5), expected=None).failed
    assert judged(sealed(line("t::s", "skipped")), expected=None).failed


def test_no_id_of_a_hidden_test_leaves_a_verdict() -> None:
    for channel in [*REFUSED.values(), *FORGED.values(), sealed(*BOTH)]:
        assert "test_a" not in repr(judged(channel))


@given(st.binary(max_size=300))
def test_no_bytes_crash_the_reader_or_pass(data: bytes) -> None:
    assert not judged(data).passed


@given(st.integers(0, len(sealed(*BOTH)) - 1), st.integers(1, 255))
def test_no_changed_byte_passes(at: int, by: int) -> None:
    whole = bytearray(sealed(*BOTH))
    whole[at] ^= by
    assert not judged(bytes(whole)).passed


def test_what_two_runs_under_gold_teach() -> None:
    one = Report(1, {"a::ok": "passed", "a::p[0x1]": "passed", "a::f": "failed", "a::flip": "passed", "a::x": "xfailed"})
    two = Report(1, {"a::ok": "passed", "a::p[0x2]": "passed", "a::f": "failed", "a::flip": "failed", "a::x": "xfailed"})
    expected, dropped = verdict.learned(one, two)
    assert expected.ids == {"a::ok"}
    assert expected.loose == {"a::p", "a::f", "a::flip", "a::x"}
    assert dropped == [
        {"id": "a::f", "why": "failed under gold"},
        {"id": "a::flip", "why": "passed once and failed once under gold"},
        {"id": "a::p", "why": "its parameters differ from run to run"},
        {"id": "a::x", "why": "xfailed under gold"},
    ]


@pytest.mark.parametrize(
    ("exit", "limit", "passed", "failed"), [(0, None, 1, 0), (3, None, 0, 1), (None, None, 0, 0), (0, "time", 0, 0)]
)
def test_a_command_is_judged_by_its_status_alone(exit: int | None, limit: str | None, passed: int, failed: int) -> None:
    found = verdict.judge_exit(Ended(exit, limit))
    assert (found.passed, found.failed) == (bool(passed), bool(failed))


def test_a_command_with_a_report_needs_both() -> None:
    outcomes = [("test_a.py::one", "passed"), ("test_a.py::two[x]", "passed")]
    assert verdict.judge_ids(Ended(0, None), outcomes, GOLD).passed
    assert verdict.judge_ids(Ended(1, None), outcomes, GOLD).failed
    assert verdict.judge_ids(Ended(0, None), outcomes[:1], GOLD).failed
    assert verdict.judge_ids(Ended(0, None), [], None).failed
