"""What stands around every step: states, faults, attempts, shared keys, damaged bytes."""

from __future__ import annotations

import errno
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from bench.core import digest
from bench.effects.context import Context, Job, Made
from bench.errors import Cancelled, SandboxRefused, SourceError
from bench.make.admission import Terms
from bench.make.workspace import Workspace
from tests.make import scripted
from tests.make.scripted import build, final, opened, step, unusable


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(tmp_path)


def record(workspace: Workspace, target: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((workspace.layout.root / target).read_bytes())
    return found


def raising(error: BaseException) -> Any:
    def does(job: Job, context: Context) -> Made:
        raise error

    return does


def attempts(workspace: Workspace) -> list[int]:
    found = sorted(workspace.layout.revoked.rglob("*.attempt-*"))
    return [json.loads(path.read_bytes())["body"]["attempt"] for path in found]


def test_made_once_and_then_it_stands(workspace: Workspace):
    work = final()
    assert build(workspace, step(work)) == "measured"
    assert build(workspace, step(work)) == "stands"
    assert build(opened(workspace.layout.root), step(work)) == "stands"
    assert work.count == 1


def test_a_lost_index_is_not_a_reason_to_run(workspace: Workspace):
    work = final()
    build(workspace, step(work))
    workspace.layout.database.unlink()
    assert build(opened(workspace.layout.root), step(work)) == "reused"
    assert work.count == 1


def test_a_lost_record_comes_back_from_the_store_byte_for_byte(workspace: Workspace):
    work = final()
    build(workspace, step(work))
    path = workspace.layout.root / step(work).target
    before = path.read_bytes()
    path.unlink()
    assert build(opened(workspace.layout.root), step(work)) == "restored"
    assert path.read_bytes() == before
    assert work.count == 1


def test_two_steps_of_one_key_are_paid_for_once_even_at_the_same_time(workspace: Workspace):
    started, go_on = threading.Event(), threading.Event()
    calls = []

    def slow(job: Job, context: Context) -> Made:
        calls.append(job.name)
        started.set()
        assert go_on.wait(20)
        return Made({"n": 1})

    def second() -> None:
        assert started.wait(20)
        threading.Timer(0.2, go_on.set).start()
        build(workspace, step(slow, "b/t/a/0", paid=True))

    scripted.together(lambda: build(workspace, step(slow, "a/t/a/0", paid=True)), second)
    assert calls == ["a/t/a/0"]
    assert workspace.run.did == {"session:a/t/a/0": "measured", "session:b/t/a/0": "restored"}
    one, other = record(workspace, "artifacts/sessions/a/t/a/0.json"), record(workspace, "artifacts/sessions/b/t/a/0.json")
    assert (one["content"], other["name"]) == (other["content"], "b/t/a/0")


@pytest.mark.parametrize("error", [Cancelled("stop"), SandboxRefused("no")])
def test_a_run_that_is_stopped_says_that_it_did_nothing(workspace: Workspace, error: Exception):
    from bench.make.execute import build as action
    from bench.make.progress import Progress

    stopped = workspace.declare(step(raising(error), "s/t/a/0"))
    assert action(workspace, stopped, Progress()) is False
    assert not (workspace.layout.root / stopped.target).exists()
    if isinstance(error, SandboxRefused):
        assert workspace.run.refused is error
        later = workspace.declare(step(final(), "s/t/a/1"))
        assert action(workspace, later, Progress()) is False
        assert not (workspace.layout.root / later.target).exists()


def test_our_own_fault_is_the_records_reason_and_runs_again(workspace: Workspace):
    faulty = step(raising(SourceError("no such commit", where="repo")), "x", "template")
    assert build(workspace, faulty) == "unusable"
    assert record(workspace, faulty.target)["reason"] == "repo: no such commit"
    assert build(workspace, faulty) == "unusable"
    assert build(workspace, step(final(), "x", "template")) == "built"


def test_what_a_step_should_not_raise_is_logged_with_its_traceback(workspace: Workspace):
    faulty = step(raising(RuntimeError(f"odd thing at {workspace.layout.root}/x")), "x", "template")
    assert build(workspace, faulty) == "not_run"
    assert workspace.run.crashed == ["template:x"]
    log = (workspace.layout.logs / "templates" / "x.log").read_text()
    assert "Traceback" in log
    assert "odd thing" in log
    assert str(workspace.layout.root) not in json.dumps(record(workspace, faulty.target))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_full_disk_in_a_step_stops_the_run_and_writes_no_record(workspace: Workspace, number: int):
    full = step(raising(OSError(number, "x", "somewhere")))
    assert build(workspace, full) == "refused"
    assert workspace.run.refused is not None
    assert workspace.run.refused.exit_code == 3
    assert not (workspace.layout.root / full.target).exists()


def test_what_was_paid_for_and_broke_in_our_hands_is_an_attempt(workspace: Workspace):
    paid = step(raising(RuntimeError("odd")), paid=True, retries=1)
    assert [build(workspace, paid) for _ in range(3)] == ["unusable", "unusable", "stands"]


def test_a_file_that_may_not_be_read_is_the_steps_own_fault(workspace: Workspace):
    assert build(workspace, step(raising(PermissionError(errno.EACCES, "x", "/elsewhere")))) == "not_run"
    assert workspace.run.refused is None


def test_scratch_is_gone_whatever_happens(workspace: Workspace):
    def litters(job: Job, context: Context) -> Made:
        (context.scratch / "a").mkdir()
        (context.scratch / "a" / "b").write_text("x")
        (context.scratch / "a").chmod(0)
        raise RuntimeError

    build(workspace, step(litters))
    assert list(workspace.layout.tmp.iterdir()) == []


def test_a_paid_unusable_is_bought_again_within_its_retries_alone(workspace: Workspace):
    work = unusable()
    paid = step(work, paid=True, retries=1)
    assert [build(workspace, paid) for _ in range(4)] == ["unusable", "unusable", "stands", "stands"]
    assert work.count == 2
    assert attempts(workspace) == [1]
    assert build(opened(workspace.layout.root), step(work, paid=True, retries=1)) == "stands"
    workspace.layout.database.unlink()
    assert build(opened(workspace.layout.root), step(work, paid=True, retries=1)) == "reused"
    assert build(opened(workspace.layout.root), step(work, paid=True, retries=2)) == "unusable"
    assert work.count == 3
    assert attempts(workspace) == [1, 2]


def test_every_paid_attempt_is_kept_even_when_counting_starts_again(workspace: Workspace):
    from bench.make import revoke

    work = unusable()
    paid = step(work, paid=True, retries=1)
    for _ in range(2):
        build(workspace, paid)
    revoke.revoke(workspace, paid)
    for _ in range(3):
        build(workspace, paid)
    assert work.count == 4
    assert attempts(workspace) == [1, 3]
    (revoked,) = workspace.layout.revoked.rglob("*.revoked-*")
    assert json.loads(revoked.read_bytes())["body"]["attempt"] == 2


def test_a_session_says_how_often_it_was_tried(workspace: Workspace):
    """Re-run until lucky: revoking a bad result hides nothing from the gate."""
    from bench.make import revoke

    paid = step(unusable(), paid=True, retries=1, max_age_days=90)
    for _ in range(2):
        build(workspace, paid)
    revoke.revoke(workspace, paid)
    build(workspace, step(final(), paid=True, retries=1, max_age_days=90))
    assert record(workspace, paid.target)["notes"]["attempts"] == 3
    free = step(final(), "x", "template")
    build(workspace, free)
    assert "attempts" not in record(workspace, free.target)["notes"]


def test_a_free_unusable_runs_again_by_itself(workspace: Workspace):
    work = unusable(0)
    assert [build(workspace, step(work)) for _ in range(3)] == ["unusable"] * 3
    assert attempts(workspace) == []


def test_evidence_that_is_too_old_is_measured_again_and_the_old_kept(workspace: Workspace):
    """Failure mode 8."""
    old = final(measured_at="2020-01-01T00:00:00Z", attempt=0)
    new = final(measured_at="2999-01-01T00:00:00Z", attempt=1)
    assert build(workspace, step(old, paid=True)) == "measured"
    assert build(workspace, step(old, paid=True)) == "stands"
    assert build(workspace, step(new, paid=True, max_age_days=90)) == "measured"
    assert attempts(workspace) == [0]
    later = opened(workspace.layout.root)
    again = step(final(measured_at="2999-01-01T00:00:00Z", attempt=2), paid=True, max_age_days=90)
    assert build(later, again) == "measured", "a date in the future is corrupt"
    assert attempts(workspace) == [0, 1]


def test_damaged_bytes_are_named_set_aside_and_made_again(workspace: Workspace):
    source = step(final(), "src", "template")
    build(workspace, source)
    blob = digest.of_bytes(b"out")
    path = workspace.store.root.joinpath("blobs", *digest.shard(blob))
    path.chmod(0o600)
    path.write_bytes(b"oUt")

    def reads(job: Job, context: Context) -> Made:
        return Made({"read": context.store.get(job.inputs["template"].outputs["out"].blob).decode()})

    reader = step(reads, "g", "graph", needs={"template": source.target})
    later = opened(workspace.layout.root)
    assert build(later, source) == "stands"
    assert build(later, reader) == "not_run"
    assert [blob in warning and "damaged" in warning for warning in later.run.warnings] == [True]
    last = opened(workspace.layout.root)
    assert build(last, source) == "built"
    assert build(last, reader) == "built"
    assert record(workspace, reader.target)["body"] == {"read": "out"}


def test_missing_bytes_are_made_again(workspace: Workspace):
    work = final()
    build(workspace, step(work))
    workspace.store.root.joinpath("blobs", *digest.shard(digest.of_bytes(b"out"))).unlink()
    assert build(opened(workspace.layout.root), step(work)) == "measured"
    assert work.count == 2


def test_an_input_without_evidence_holds_a_step_back_and_says_why(workspace: Workspace):
    source = step(raising(SourceError("broken")), "src", "template")
    build(workspace, source)
    reader = step(final(), "g", "graph", needs={"template": source.target, "x": "artifacts/templates/none.json"})
    assert build(workspace, reader) == "not_run"
    assert record(workspace, reader.target)["reason"] == "its template is unusable: broken"
    assert build(workspace, step(final(), "src", "template")) == "built"
    assert build(workspace, reader) == "not_run"
    assert record(workspace, reader.target)["reason"] == "no record of its x (artifacts/templates/none.json)"


def test_an_aggregate_is_made_from_whatever_is_there(workspace: Workspace):
    def counts(job: Job, context: Context) -> Made:
        return Made({"inputs": sorted(job.inputs)})

    build(workspace, step(raising(SourceError("broken")), "src", "template"))
    needs = {"a": "artifacts/templates/src.json", "b": "artifacts/templates/none.json"}
    assert build(workspace, step(counts, "s", "aggregate", needs=needs)) == "built"
    assert record(workspace, "artifacts/aggregates/s.json")["body"] == {"inputs": ["a"]}


def test_a_raw_file_is_keyed_and_handed_over_as_it_was_first_seen(workspace: Workspace):
    path = workspace.layout.root / "oracles" / "x"
    path.parent.mkdir()
    path.write_text("one")

    def reads(job: Job, context: Context) -> Made:
        return Made({"read": context.store.get(job.files["x"].blob).decode()})

    reader = step(reads, "o", "oracle", files={"x": "oracles/x"})
    assert build(workspace, reader) == "built"
    path.write_text("two")
    assert build(workspace, step(reads, "p", "oracle", files={"x": "oracles/x"})) == "restored"
    late = step(reads, "o2", "oracle", files={"x": "oracles/x"}, params={"other": 1})
    assert build(workspace, late) == "not_run"
    assert "changed while the run was going on" in record(workspace, late.target)["reason"]
    assert build(opened(workspace.layout.root), late) == "built"
    assert record(workspace, late.target)["body"] == {"read": "two"}


def test_no_session_starts_once_the_suites_budget_is_used_up(workspace: Workspace):
    def spends(job: Job, context: Context) -> Made:
        context.spent(0.6)
        return Made({"spent_usd": 0.6, "run": job.name[-1]})

    def paid(run: int, suite: str = "s") -> Any:
        params = {"run": run, "suite": suite}
        return step(spends, name=f"{suite}/t/a/{run}", params=params, paid=True, terms=Terms(suite, 0, 1.2))

    assert [build(workspace, paid(run)) for run in range(3)] == ["measured", "measured", "not_run"]
    held = record(workspace, paid(2).target)
    assert held["state"] == "not_run"
    assert "budget of $1.20 is used up ($1.20 spent" in held["reason"]
    assert build(workspace, paid(0, "other")) == "measured"
    # The next run has a purse of its own, and goes on.
    assert build(opened(workspace.layout.root), paid(2)) == "measured"


def test_money_that_a_stopped_session_cost_is_in_the_journal(workspace: Workspace):
    def stopped(job: Job, context: Context) -> Made:
        return Made({"spent_usd": 0.25}, {}, "not_run", "cancelled")

    assert build(workspace, step(stopped, paid=True)) == "not_run"
    (event,) = workspace.journal.events()
    assert (event["event"], event["spent_usd"]) == ("stopped", 0.25)
    assert workspace.journal.attempts(event["record_key"]) == 0
