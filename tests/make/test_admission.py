"""Which sessions a run still starts: outage, budget, rate limit; around scripted sessions."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.core.admission import TRIES
from bench.core.outages import LONGEST_S, MARGIN_S
from bench.effects import clock
from bench.effects.context import Context, Job, Made
from bench.errors import Cancelled
from bench.make.admission import Admission, Terms, Ticket, kin
from bench.make.workspace import Workspace
from tests.make import scripted
from tests.make.scripted import build, final, opened, step

NOW = 1_800_000_000.0


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(tmp_path)


def ends(kind: str | None, state: str = "final", **body: Any) -> Callable[[Job, Context], Made]:
    """Work that ends with this error kind."""

    def does(job: Job, context: Context) -> Made:
        reason = None if state == "final" else str(kind)
        return Made({"error_kind": kind, "run": job.name} | body, {}, state, reason)

    return does


def session(does: Any, run: int, *, suite: str = "s", **terms: Any) -> Any:
    name = f"{suite}/t/{terms.pop('arm', 'a')}/{run}"
    paid = terms.pop("paid", True)
    return step(does, name, params={"name": name}, paid=paid, retries=1, terms=Terms(suite, **terms))


BAD = ends("session-error", "unusable")
GOOD = ends("oracle-failed")
STATES = {"measured": 0, "not_run": 1, "unusable": 2}


def told(workspace: Workspace, target: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((workspace.layout.root / target).read_bytes())
    return found


def test_after_a_trip_nothing_new_starts_and_says_why(workspace: Workspace):
    did = [build(workspace, session(BAD, run, outage=3)) for run in range(5)]
    assert did == ["unusable"] * 3 + ["not_run"] * 2
    held = told(workspace, "artifacts/sessions/s/t/a/4.json")
    assert (held["state"], held["reason"]) == ("not_run", "outage: 3 sessions in a row failed systemically")
    assert [line.startswith("s: outage: 3 sessions in a row") for line in workspace.run.admission.trips] == [True]


def test_the_outage_of_a_suite_is_its_own(workspace: Workspace):
    assert [build(workspace, session(BAD, run, outage=1)) for run in range(2)] == ["unusable", "not_run"]
    assert build(workspace, session(GOOD, 0, suite="other", outage=1)) == "measured"


def test_a_good_session_resets_and_zero_disables(workspace: Workspace):
    works = [BAD, GOOD, BAD, GOOD, BAD]
    did = [build(workspace, session(work, run, outage=2)) for run, work in enumerate(works)]
    assert did == ["unusable", "measured", "unusable", "measured", "unusable"]
    assert [build(workspace, session(BAD, run, suite="z", outage=0)) for run in range(6)] == ["unusable"] * 6


def test_the_next_run_goes_on(workspace: Workspace):
    for run in range(3):
        build(workspace, session(BAD, run, outage=2))
    assert build(opened(workspace.layout.root), session(GOOD, 2, outage=2)) == "measured"


def test_replays_that_fail_systemically_count_and_what_is_reused_says_nothing(workspace: Workspace):
    for run in range(2):
        assert build(workspace, session(final(), run, outage=2)) == "measured"
    later = opened(workspace.layout.root)
    for run in range(2):
        (workspace.layout.root / f"artifacts/sessions/s/t/a/{run}.json").unlink()
    kinds = ends("infra-error", "unusable")
    assert build(later, session(kinds, 7, outage=2, paid=False)) == "unusable"
    assert [build(later, session(final(), run, outage=2)) for run in range(2)] == ["restored", "restored"]
    assert build(later, session(kinds, 8, outage=2, paid=False)) == "unusable"
    assert build(later, session(kinds, 9, outage=2)) == "not_run"


def test_an_invalid_review_counts_whatever_was_recorded_first(workspace: Workspace):
    invalid = ends("skill-not-invoked", review_evidence_valid=False)
    assert [build(workspace, session(invalid, run, outage=2)) for run in range(3)] == ["measured", "measured", "not_run"]


def test_our_own_error_in_session_after_session_is_an_outage_too(workspace: Workspace):
    def breaks(job: Job, context: Context) -> Made:
        raise RuntimeError(job.name)

    assert [build(workspace, session(breaks, run, outage=2)) for run in range(3)] == ["unusable", "unusable", "not_run"]


def test_what_is_bought_already_is_there_after_a_trip_too(workspace: Workspace):
    build(workspace, session(GOOD, 0, outage=1))
    later = opened(workspace.layout.root)
    build(later, session(BAD, 1, outage=1))
    later.index.records.clear()
    assert build(later, session(GOOD, 0, outage=1)) == "reused"


def spends(dollars: float) -> Callable[[Job, Context], Made]:
    def does(job: Job, context: Context) -> Made:
        return Made({"spent_usd": dollars, "left": context.left(), "run": job.name})

    return does


def test_a_session_is_told_what_is_left_and_it_is_in_no_key(workspace: Workspace):
    for run in range(3):
        build(workspace, session(spends(0.5), run, budget_usd=2.0))
    left = [told(workspace, f"artifacts/sessions/s/t/a/{run}.json")["body"]["left"] for run in range(3)]
    assert left == [2.0, 1.5, 1.0]
    assert build(workspace, session(spends(0.5), 1, budget_usd=9.0)) == "stands"
    assert workspace.run.admission.spent.known == 1.5


def test_what_a_session_is_expected_to_cost_holds_it_back(workspace: Workspace):
    assert build(workspace, session(spends(0.1), 0, budget_usd=1.0, expected_usd=1.01)) == "not_run"
    assert "does not cover it" in told(workspace, "artifacts/sessions/s/t/a/0.json")["reason"]
    assert build(workspace, session(spends(0.1), 0, budget_usd=1.0, expected_usd=1.0)) == "measured"
    # From now on the arm's own median is the figure; another arm has none of its own.
    assert build(workspace, session(spends(0.1), 1, budget_usd=1.0, expected_usd=1.0)) == "measured"
    assert build(workspace, session(spends(0.1), 0, arm="b", budget_usd=1.0, expected_usd=1.0)) == "not_run"
    # And it is known to the next run, from the records.
    later = opened(workspace.layout.root)
    for run in range(2):
        later.declare(session(spends(0.1), run))
    assert build(later, session(spends(0.1), 2, budget_usd=1.0, expected_usd=5.0)) == "measured"


def test_a_replay_needs_no_budget(workspace: Workspace):
    assert build(workspace, session(spends(0.0), 0, budget_usd=0.0, paid=False)) == "measured"
    assert build(workspace, session(spends(0.0), 1, budget_usd=0.0)) == "not_run"


def test_running_sessions_are_counted_with_what_they_are_expected_to_cost(workspace: Workspace):
    inside, go_on = threading.Event(), threading.Event()

    def slow(job: Job, context: Context) -> Made:
        context.spent(0.25)
        inside.set()
        assert go_on.wait(20)
        return Made({"spent_usd": 0.25})

    def other() -> None:
        assert inside.wait(20)
        results.append(build(workspace, session(spends(0.5), 1, budget_usd=1.0, expected_usd=0.6)))
        go_on.set()

    results: list[str] = []
    scripted.together(lambda: build(workspace, session(slow, 0, budget_usd=1.0, expected_usd=0.6)), other)
    assert results == ["not_run"]
    reason = told(workspace, "artifacts/sessions/s/t/a/1.json")["reason"]
    assert "($0.60 spent or expected of running sessions in this run" in reason
    assert workspace.run.admission.spent.known == 0.25, "what was told as it was spent is not counted again at the end"


def test_while_no_cost_is_known_sessions_under_a_budget_start_one_at_a_time(workspace: Workspace):
    began: list[str] = []
    at_its_end: list[int] = []

    def counts(job: Job, context: Context) -> Made:
        began.append(job.name)
        clock.sleep(0.3)
        at_its_end.append(len(began))
        return Made({"spent_usd": 0.1, "run": job.name})

    arms = ["a", "b", "c"]
    scripted.together(*(lambda arm=arm: build(workspace, session(counts, 0, arm=arm, budget_usd=1.0)) for arm in arms))
    assert at_its_end[0] == 1
    assert sorted(workspace.run.did.values()) == ["measured"] * 3


def test_an_arm_without_a_figure_of_its_own_is_expected_to_cost_what_the_others_do(workspace: Workspace):
    assert build(workspace, session(spends(0.4), 0, budget_usd=1.0)) == "measured"
    assert build(workspace, session(spends(0.4), 0, arm="b", budget_usd=1.0)) == "measured"
    assert build(workspace, session(spends(0.4), 0, arm="c", budget_usd=1.0)) == "not_run"


def limited(resets_at: float | None, state: str = "unusable") -> Callable[[Job, Context], Made]:
    told = {"cls": "usage-limit"} | ({} if resets_at is None else {"resets_at": resets_at})
    return ends("session-error", state, outage=told)


def no_history(wide: bool) -> list[float]:
    return []


def entered(admission: Admission, step: Any) -> Ticket:
    found = admission.enter(step, no_history, lambda line: None)
    assert isinstance(found, Ticket)
    return found


@pytest.mark.slow
def test_a_rate_limit_pauses_and_the_session_runs_again_without_a_retry(workspace: Workspace):
    starts: list[float] = []

    def once(job: Job, context: Context) -> Made:
        starts.append(clock.now_utc().timestamp())
        if len(starts) == 1:
            return limited(starts[0] + 1)(job, context)
        return Made({"spent_usd": 1.0})

    assert build(workspace, session(once, 0, outage=1)) == "measured"
    assert starts[1] >= starts[0] + 1 + MARGIN_S
    (key,) = {event["key"] for event in workspace.journal.events() if event["event"] == "built"}
    assert workspace.journal.attempts(key) == 1, "the one that the limit ended is not charged"
    assert len(list(workspace.layout.revoked.rglob("*.attempt-*"))) == 1, "and it is kept"
    assert workspace.run.admission.trips == []
    log = (workspace.layout.logs / "sessions/s/t/a/0.log").read_text()
    assert "usage-limit of the model's service: no session starts before 20" in log


def test_a_pause_holds_every_suite_and_ends_when_the_run_is_cancelled():
    now = [NOW]
    cancel = threading.Event()
    admission = Admission(cancel, lambda: now[0])
    lines: list[str] = []
    ticket = entered(admission, session(GOOD, 0, outage=1))
    record = told_record(limited(NOW + 100))
    assert admission.leave(ticket, record, lines.append)
    assert admission.paused is not None
    assert lines == ["usage-limit of the model's service: no session starts before 2027-01-15T08:01:55Z"]
    threading.Timer(0.3, cancel.set).start()
    with pytest.raises(Cancelled):
        admission.enter(session(GOOD, 0, suite="other"), no_history, lines.append)
    assert len(lines) == 2
    now[0] = NOW + 100 + MARGIN_S
    cancel.clear()
    entered(admission, session(GOOD, 0, suite="other"))


def told_record(does: Callable[..., Made]) -> Any:
    from bench.core.records import Record, sealed

    made = does(Job("session", "s/t/a/0", "k", {}, {}, {}), None)
    return sealed(Record("session", "s/t/a/0", "k", {}, {}, made.state, made.reason, made.outputs, made.body))


def test_a_limit_is_waited_for_a_few_times_and_then_is_an_outage():
    now = [NOW]
    admission = Admission(threading.Event(), lambda: now[0])
    paid = session(GOOD, 0, outage=1)
    again = []
    for _ in range(TRIES):
        ticket = entered(admission, paid)
        again.append(admission.leave(ticket, told_record(limited(now[0] + 10)), lambda line: None))
        now[0] += 100
    assert again == [True] * (TRIES - 1) + [False]
    assert len(admission.trips) == 1


def test_a_reset_beyond_the_bound_closes_the_suite_without_a_wait():
    admission = Admission(threading.Event(), lambda: NOW)
    ticket = entered(admission, session(GOOD, 0, outage=5))
    assert not admission.leave(ticket, told_record(limited(NOW + LONGEST_S)), lambda line: None)
    held = admission.enter(session(GOOD, 1), no_history, lambda line: None)
    assert held == "a usage-limit of the model's service resets at 2027-01-15T14:00:00Z, too far away to wait for"


def test_a_recorded_limit_is_waited_for_once_at_most():
    admission = Admission(threading.Event(), lambda: NOW)
    for reset in (None, NOW - 5):
        ticket = entered(admission, session(GOOD, 0, paid=False))
        assert not admission.leave(ticket, told_record(limited(reset)), lambda line: None)
        assert admission.paused is None


def test_a_cancelled_session_says_nothing_about_the_service():
    admission = Admission(threading.Event(), lambda: NOW)
    ticket = entered(admission, session(BAD, 0, outage=1))
    assert not admission.leave(ticket, None, lambda line: None)
    ticket = entered(admission, session(BAD, 0, outage=1))
    assert not admission.leave(ticket, told_record(ends("cancelled", "not_run")), lambda line: None)
    assert admission.trips == []


def test_a_limited_session_runs_again_in_the_next_run_whatever_its_retries(workspace: Workspace):
    admission_bound = limited(4e9)  # beyond what a run waits
    paid = session(admission_bound, 0)
    assert build(workspace, paid) == "unusable"
    for _ in range(3):
        later = opened(workspace.layout.root)
        assert build(later, session(admission_bound, 0)) == "unusable"
    assert build(opened(workspace.layout.root), session(GOOD, 0)) == "measured"


def test_a_canary_costs_what_a_session_of_its_arm_costs() -> None:
    params = {"model": "m", "effort": None}
    session = kin("suite/task/arm/3", params)
    assert kin("suite/candidate/arm", params) == session
    assert kin("suite/task/other/3", params) != session
    assert kin("suite/candidate/other", params, wide=True) == kin("suite/task/arm/3", params, wide=True)
