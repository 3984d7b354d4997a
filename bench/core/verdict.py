"""What a hidden run proves. Pure: it is given how the run ended and the bytes of its report, and trusts neither alone.

A pass needs all of: status 0 from our own init, no limit hit, a report that is whole and authentic under this run's nonce,
exactly the expected tests in it, each passed, and an untouched runner. Printed text, exit statuses that the graded code
chose, and files that it wrote count for nothing. No test id and no output of a hidden run leaves this module.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

HEADER = b"assay-report 1"
PASSED = "passed"
OUTCOMES = frozenset({PASSED, "failed", "error", "skipped", "xfailed", "xpassed"})
RAN = frozenset({0, 1})
"""Exit statuses of pytest after which its report stands: all passed, some failed. Others (interrupted, internal error,
usage, no tests) mean that the tests were not run as asked."""

TOUCHED = 98
"""Status with which the launcher ends when its recorder is touched."""
GRAVE = frozenset(
    {
        "gc.get_objects",
        "gc.get_referrers",
        "gc.get_referents",
        "sys._current_frames",
        "sys.settrace",
        "sys.setprofile",
        "sys.monitoring.register_callback",
        "function.__code__",
    }
)
"""Probes by which the recorder's state could have been reached: they fail a run, unless gold does the same."""

_LINE = re.compile(rb"T ([0-9a-f]+) ([a-z]+)")
_END = re.compile(rb"E (-?[0-9]+) ([0-9]+)")
_TRACE = re.compile(rb"X ([0-9a-f]+)")
_PROBES = re.compile(rb"(?:![0-9a-f]+\n)*")
_SEAL = re.compile(rb"S ([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Report:
    """An authentic report of the launcher. `outcomes` by test id; `status` is pytest's own exit status.

    `patched` names what of the runner was not as it should be, `probes` what looked into it.
    """

    status: int
    outcomes: Mapping[str, str]
    patched: frozenset[str] = frozenset()
    probes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Expected:
    """What gold taught: `ids` must pass, tests whose stem is in `loose` may do anything, traces seen then are normal."""

    ids: frozenset[str]
    loose: frozenset[str] = frozenset()
    patched: frozenset[str] = frozenset()
    probes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Verdict:
    """`passed` is the judgement, `failed` its opposite where there was a run at all; neither: it could not be judged.

    `counts` are {expected, passed, failed, missing, unexpected}; `why` is one line without ids or output; `alarms` are
    [(kind, detail)] for the cell.
    """

    passed: bool
    failed: bool
    counts: Mapping[str, int]
    why: str
    alarms: tuple[tuple[str, str], ...] = ()
    limit: str | None = None
    """The bound that ended the run, when one did."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the verifier's process ended: what `bench.effects.sandbox.Finished` says, as plain values."""

    exit: int | None
    limit: str | None
    channel: bytes = field(default=b"", repr=False)


class Forged(Exception):
    """The report is not what the launcher writes. A value of this module: `judge` turns it into a verdict."""


def stem(test: str) -> str:
    """A test id without its parameters."""
    return test.split("[", 1)[0]


def seal(body: bytes, nonce: str) -> str:
    """The keyed digest that ends a report: 64 hex digits over everything before the sealing line."""
    return hashlib.blake2b(body, key=bytes.fromhex(nonce), digest_size=32).hexdigest()


def read(channel: bytes, nonce: str) -> Report:
    """Parse a report. Raises Forged saying what is wrong; an empty channel is wrong too.

    Probes stand before the report and are not sealed: each is written the moment it is seen, and can only do harm.
    """
    heard = _PROBES.match(channel)
    said = heard[0] if heard else b""
    found = _sealed(channel[len(said) :], nonce)
    return replace(found, probes=frozenset(_text(line[1:]) for line in said.split()))


def _sealed(channel: bytes, nonce: str) -> Report:
    if not channel:
        raise Forged("no report was sent")
    head, newline, _ = channel.rpartition(b"\nS ")
    body = head + b"\n"
    if not newline or not channel.endswith(b"\n"):
        raise Forged("the report has no end")
    found = _SEAL.fullmatch(channel[len(body) : -1])
    if not found:
        raise Forged("the report does not end in its seal")
    if not hmac.compare_digest(found[1].decode(), seal(body, nonce)):
        raise Forged("the report was not written by the launcher of this run")
    lines = body.split(b"\n")[:-1]
    if len(lines) < 2 or lines[0] != HEADER:
        raise Forged("the report has no beginning")
    return _parsed(lines[1:-1], lines[-1])


def _parsed(lines: list[bytes], last: bytes) -> Report:
    end = _END.fullmatch(last)
    if not end:
        raise Forged("the report has no final line")
    outcomes: dict[str, str] = {}
    patched: set[str] = set()
    for line in lines:
        trace = _TRACE.fullmatch(line)
        if trace:
            patched.add(_text(trace[1]))
            continue
        test = _LINE.fullmatch(line)
        if not test or test[2].decode() not in OUTCOMES:
            raise Forged("the report holds a foreign line")
        name = _text(test[1])
        if name in outcomes:
            raise Forged("the report names a test twice")
        outcomes[name] = test[2].decode()
    if int(end[2]) != len(outcomes):
        raise Forged("the report's count is wrong")
    return Report(int(end[1]), outcomes, frozenset(patched))


def _text(hexed: bytes) -> str:
    return bytes.fromhex(hexed.decode()).decode("utf-8", "surrogateescape")


def judge(ended: Ended, nonce: str, expected: Expected | None) -> Verdict:
    """The verdict on a pytest oracle's run. Without an expectation (a task without gold) every test that ran must pass."""
    expected = _own(ended, nonce) if expected is None else expected
    counts = {"expected": len(expected.ids), "passed": 0, "failed": 0, "missing": len(expected.ids), "unexpected": 0}
    if ended.limit is not None:
        return Verdict(False, False, counts, f"the hidden tests hit their limit ({ended.limit})", limit=ended.limit)
    try:
        report = read(ended.channel, nonce)
    except Forged as error:
        return _without_report(ended, str(error), counts)
    counts |= _counted(report, expected)
    alarms = _alarms(report, expected)
    fault = _fault(ended, report, expected, counts)
    if fault is None and any(kind == "tampered-grader" for kind, _ in alarms):
        fault = "the test runner was tampered with"
    return Verdict(fault is None, fault is not None, counts, fault or "every expected test passed", tuple(alarms))


def _own(ended: Ended, nonce: str) -> Expected:
    try:
        return _of_itself(read(ended.channel, nonce))
    except Forged:
        return Expected(frozenset())


def _of_itself(report: Report) -> Expected:
    spared = {test for test, outcome in report.outcomes.items() if outcome in ("skipped", "xfailed")}
    return Expected(frozenset(report.outcomes) - spared, frozenset(map(stem, spared)))


def _without_report(ended: Ended, why: str, counts: Mapping[str, int]) -> Verdict:
    alarms: tuple[tuple[str, str], ...] = ()
    if ended.exit == TOUCHED:
        alarms = (("tampered-grader", "the hidden run's recorder was touched"),)
    elif ended.channel and _PROBES.fullmatch(ended.channel) is None:
        alarms = (("tampered-grader", f"the hidden run's report was not genuine: {why}"),)
    elif ended.exit == 0:
        alarms = (("tampered-grader", "the hidden run ended early with status 0, before the tests were over"),)
    return Verdict(False, True, counts, why, alarms)


def _counted(report: Report, expected: Expected) -> dict[str, int]:
    known = [report.outcomes.get(test) for test in expected.ids]
    passed = sum(outcome == PASSED for outcome in known)
    missing = sum(outcome is None for outcome in known)
    strange = sum(test not in expected.ids and stem(test) not in expected.loose for test in report.outcomes)
    return {"passed": passed, "failed": len(known) - passed - missing, "missing": missing, "unexpected": strange}


def _fault(ended: Ended, report: Report, expected: Expected, counts: Mapping[str, int]) -> str | None:
    if ended.exit != 0:
        return "the launcher did not end cleanly"
    if not expected.ids:
        return "no test is expected, so none can prove anything"
    if report.status not in RAN:
        return f"the hidden tests were not run as asked (status {report.status} of the runner)"
    for name in ("failed", "missing", "unexpected"):
        if counts[name]:
            return f"{counts[name]} of {counts['expected']} hidden tests {name}" if name != "unexpected" else _STRANGE
    return None


_STRANGE = "tests ran that gold does not have"


def _alarms(report: Report, expected: Expected) -> list[tuple[str, str]]:
    alarms = []
    for name in sorted(report.patched - expected.patched):
        alarms.append(("tampered-grader", f"not the runner's own while tests ran: {name}"))
    for name in sorted(report.probes - expected.probes):
        kind = "tampered-grader" if name in GRAVE else "probed-grader"
        alarms.append((kind, f"used while hidden tests ran, and not under gold: {name}"))
    return alarms


def judge_exit(ended: Ended) -> Verdict:
    """The verdict on a command oracle that reports by its exit status, as our own init saw it."""
    counts = {"expected": 1, "passed": 0, "failed": 0, "missing": 0, "unexpected": 0}
    if ended.limit is not None or ended.exit is None:
        limit = ended.limit or "killed"
        return Verdict(False, False, counts | {"missing": 1}, f"the hidden check hit its limit ({limit})", limit=limit)
    if ended.exit == 0:
        return Verdict(True, False, counts | {"passed": 1}, "the hidden check passed")
    return Verdict(False, True, counts | {"failed": 1}, "the hidden check failed")


def judge_ids(ended: Ended, outcomes: Iterable[tuple[str, str]], expected: Expected | None) -> Verdict:
    """The verdict on a command oracle with a test report of its own, (id, outcome): exit status 0 and the expected ids."""
    by_exit = judge_exit(ended)
    if not by_exit.passed:
        return by_exit
    report = Report(0, dict(outcomes))
    expected = _of_itself(report) if expected is None else expected
    counts = {"expected": len(expected.ids)} | _counted(report, expected)
    fault = _fault(ended, report, expected, counts)
    return Verdict(fault is None, fault is not None, counts, fault or "every expected test passed")


def learned(first: Report, second: Report) -> tuple[Expected, list[dict[str, str]]]:
    """What two runs under gold teach: the expectation, and the tests that cannot be judged with why, sorted by id."""
    ids, dropped = set(), []
    for test in sorted(set(first.outcomes) | set(second.outcomes)):
        one, two = first.outcomes.get(test), second.outcomes.get(test)
        if one == two == PASSED:
            ids.add(test)
        elif one is None or two is None:
            dropped.append({"id": stem(test), "why": "its parameters differ from run to run"})
        elif one != two:
            dropped.append({"id": test, "why": f"{one} once and {two} once under gold"})
        else:
            dropped.append({"id": test, "why": f"{one} under gold"})
    unique = [dict(row) for row in dict.fromkeys(tuple(row.items()) for row in dropped)]
    loose = frozenset(stem(row["id"]) for row in unique)
    return Expected(frozenset(ids), loose, first.patched | second.patched, first.probes | second.probes), unique
