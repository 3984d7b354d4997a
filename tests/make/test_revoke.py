"""Revocation: whatever stands for a key goes, nothing is deleted, and the last good record comes back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench.core import promotion_sides, records
from bench.effects.context import Context, Job, Made
from bench.make import revoke
from bench.make.workspace import Workspace
from tests.make.scripted import build, final, opened, step


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(tmp_path)


def revoked(workspace: Workspace) -> list[bytes]:
    return [path.read_bytes() for path in sorted(workspace.layout.revoked.rglob("*.revoked-*"))]


def test_a_damaged_record_is_revoked_with_the_good_one_that_the_store_would_give_back(workspace: Workspace):
    made = step(final(), paid=True)
    build(workspace, made)
    path = workspace.layout.root / made.target
    good = path.read_bytes()
    path.write_bytes(b"torn")
    assert revoke.revoke(workspace, made) == [made.id]
    assert revoked(workspace) == [b"torn", good]
    assert not path.exists()
    assert build(opened(workspace.layout.root), step(final(n=2), paid=True)) == "measured"
    assert revoke.restore(workspace, made)
    back = records.parse(path.read_bytes(), made.target)
    assert records.sealed(replace(back, body={"n": 1})) == records.parse(good, made.target), "but for what it cost to get it"


def test_going_back_to_the_lucky_attempt_hides_none_of_those_after_it(workspace: Workspace):
    """Buy, revoke, buy again, see that it is worse, and restore the first: the gate is told of both."""
    lucky, worse = step(final(n=9), paid=True), step(final(n=1), paid=True)
    build(workspace, lucky)
    first = workspace.read(lucky.target)
    revoke.revoke(workspace, lucky)
    build(workspace, worse)
    assert revoke.restore(workspace, lucky)
    back = workspace.read(lucky.target)
    assert first is not None
    assert back is not None
    assert (back.key, back.body["n"], records.attempts(back)) == (first.key, 9, 2)
    assert back.content != first.content, "what was decided on the first is decided again"
    assert promotion_sides.measured(back, back).attempts == 2
    later = opened(workspace.layout.root)
    assert (build(later, step(final(), paid=True)), later.store.find(back.key)) == ("stands", back)
    assert revoke.restore(workspace, lucky)
    second = workspace.read(lucky.target)
    assert second is not None
    assert (second.body, records.attempts(second)) == ({"n": 1}, 2), "it knew already"


def test_evidence_that_the_store_alone_holds_is_revoked_too(workspace: Workspace):
    made = step(final())
    build(workspace, made)
    (workspace.layout.root / made.target).unlink()
    later = opened(workspace.layout.root)
    later.declare(made)
    assert revoke.revoke(later, made) == [made.id]
    assert build(opened(workspace.layout.root), step(final())) == "measured"


def test_old_evidence_behind_a_measurement_that_was_held_back_is_kept(workspace: Workspace):
    """The record on disk says not run; what was bought before under the same key is in the store."""
    old = step(final(measured_at="2020-01-01T00:00:00Z"), paid=True)
    build(workspace, old)
    good = (workspace.layout.root / old.target).read_bytes()

    def cancelled(job: Job, context: Context) -> Made:
        return Made({}, {}, records.NOT_RUN, "cancelled")

    late = step(cancelled, paid=True, max_age_days=1)
    assert build(workspace, late) == "not_run"
    assert revoke.revoke(workspace, late) == [late.id]
    assert good in revoked(workspace)
    assert revoke.restore(workspace, late)
    assert (workspace.layout.root / old.target).read_bytes() == good


def test_a_forged_record_does_not_take_anothers_evidence_along(workspace: Workspace):
    one, other = step(final(n=1), "s/t/a/0"), step(final(n=2), "s/t/b/0", params={"x": 1})
    build(workspace, one)
    build(workspace, other)
    path = workspace.layout.root / one.target
    path.write_bytes((workspace.layout.root / other.target).read_bytes())
    assert revoke.revoke(workspace, one) == [one.id]
    assert workspace.store.find(json.loads((workspace.layout.root / other.target).read_bytes())["key"]) is not None
    assert build(opened(workspace.layout.root), other) == "stands"


def test_nothing_there_is_nothing_done(workspace: Workspace):
    made = step(final())
    workspace.declare(made)
    assert revoke.revoke(workspace, made) == []
    assert not revoke.restore(workspace, made)
    assert revoked(workspace) == []


def test_what_is_brought_back_is_believed_and_counts_as_no_attempt(workspace: Workspace):
    made = step(final(), paid=True)
    build(workspace, made)
    revoke.revoke(workspace, made)
    assert revoke.restore(workspace, made)
    work = final()
    assert build(opened(workspace.layout.root), step(work, paid=True)) == "stands"
    workspace.layout.database.unlink()
    assert build(opened(workspace.layout.root), step(work, paid=True)) == "reused"
    assert work.count == 0
