"""Reuse is earned by what is known to be equal; what is not known is not equal.

Incidents (failure modes 7, 8 and 9): a row without a runtime digest was reusable for ever, since two absent digests are
equal; a copied row got the time of its copy and never aged; dependency trees and assets were not compared at all. And the
other way round (8.1, 8.2): wrong answers and arms without skills were never reused, so every sweep paid for them again.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from bench.core import records
from bench.core.records import FINAL, Record
from bench.effects import clock
from bench.make import cells, execute
from bench.make.pipeline import Pipeline
from bench.make.progress import Progress
from bench.make.step import Step
from bench.make.workspace import Workspace
from tests.make import workspaces
from tests.make.scripted import final, opened, step, unusable

ROLES = ("template", "graph", "assets", "skill", "runtime")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(tmp_path)


def build(workspace: Workspace, made: Step) -> str:
    """What the action does, as doit calls it when an input has changed or nothing is known."""
    workspace.steps[made.target] = made
    execute.build(workspace, made, Progress())
    return workspace.run.did[made.id]


def inputs(workspace: Workspace, **said: str) -> dict[str, str]:
    """Paths of five input records, each made to say what it is told to, else the same as ever."""
    found = {}
    for role in ROLES:
        made = step(final(says=said.get(role, "usual")), "x", role, params={"says": said.get(role, "usual")})
        build(workspace, made)
        found[role] = made.target
    return found


def session(work: Any, needs: dict[str, str], name: str = "s/t/a/0", **more: Any) -> Step:
    return step(work, name, needs=needs, paid=True, **{"max_age_days": 90} | more)


def ago(days: int) -> str:
    return clock.stamp(clock.now_utc() - datetime.timedelta(days=days))


@pytest.mark.parametrize("role", ROLES)
def test_another_input_is_another_session(workspace: Workspace, role: str) -> None:
    """Failure mode 9, and 7 for the runtime: each input by its content, whatever it is called."""
    work = final(measured_at=ago(1))
    assert build(workspace, session(work, inputs(workspace))) == "measured"
    again = opened(workspace.layout.root)
    assert build(again, session(work, inputs(again, **{role: "another"}))) == "measured"
    back = opened(workspace.layout.root)
    assert build(back, session(work, inputs(back))) == "restored", "what was known of the first is known again"
    assert work.count == 2


@pytest.mark.parametrize("role", ROLES)
def test_an_absent_input_is_no_match(workspace: Workspace, role: str) -> None:
    """Failure mode 7: absence on both sides is not equality; without the record nothing is taken and nothing is bought."""
    work = final(measured_at=ago(1))
    needs = inputs(workspace)
    assert build(workspace, session(work, needs)) == "measured"
    (workspace.layout.root / needs[role]).unlink()
    later = opened(workspace.layout.root)
    assert build(later, session(work, needs)) == "not_run"
    broken = opened(workspace.layout.root)
    assert build(broken, step(unusable(0), "x", role, params={"says": "usual"} | {"n": 1})) == "unusable"
    assert build(broken, session(work, needs)) == "not_run"
    assert work.count == 1


def test_every_arm_of_agents_names_what_it_runs_with(tmp_path: Path) -> None:
    """Failure mode 7: the digest was never forwarded to the runner. The row of a cell names each input that it has."""
    arm = {"name": "a", "role": "incumbent", "engine": "loop", "skills": ["skills/mend"], "graph": True}
    bare = {"name": "b", "role": "comparator", "engine": "loop"}
    workspaces.write(tmp_path, model="some/model", arms=[arm, bare], graph="codeanalyzer")
    suite = json.loads((tmp_path / "corpus/tiny.yaml").read_text())
    del suite["tasks"][0]["gold"]
    suite["tasks"][0]["sandbox_dependencies"] = [{"source": "lib", "target": "lib"}]
    workspaces.put(tmp_path, "corpus/tiny.yaml", json.dumps(suite))
    workspaces.put(tmp_path, "corpus/repos/adder/lib/x", "x")
    workspaces.put(tmp_path, "corpus/skills/mend/SKILL.md", workspaces.SKILL)
    workspaces.put(tmp_path, "corpus/tiny.lock.json", '{"schema":1,"sources":{},"dependencies":{}}')
    rows = {row.name: row.session_needs for row in cells.rows(Pipeline(tmp_path, [], {}))}
    assert {role for role, path in rows["tiny/add/a/0"].items() if path} == set(ROLES)
    assert {role for role, path in rows["tiny/add/b/0"].items() if path} == {"template", "assets", "runtime"}
    assert set(rows["tiny/add/a/0"]) == {*ROLES, "gold"}, "and nothing of how it is graded (8.1, 8.2)"


def stored(workspace: Workspace, path: str, **body: Any) -> None:
    """Put a record in place of the one at `path`, in the store and the journal too, with another body."""
    old = records.parse((workspace.layout.root / path).read_bytes(), path)
    made = records.sealed(Record(old.kind, old.name, old.key, old.inputs, old.params, FINAL, None, old.outputs, body))
    workspace.journal.write(
        "built", key=made.key, content=made.content, seal=made.seal, kind=made.kind, name=made.name, state=FINAL, spent_usd=0
    )
    workspace.store.put_record(made)
    (workspace.layout.root / path).unlink()


def test_evidence_without_a_time_has_no_age_and_is_not_reused(workspace: Workspace) -> None:
    """Failure modes 7 and 8: what does not say when it was measured would be valid for ever."""
    work = final(measured_at=ago(1))
    paid = session(work, {})
    assert build(workspace, paid) == "measured"
    stored(workspace, paid.target, n=1)
    assert build(opened(workspace.layout.root), paid) == "measured"
    assert work.count == 2


def test_a_copy_keeps_the_time_of_the_first_measurement(workspace: Workspace) -> None:
    """Failure mode 8: another suite takes the record over, and it is as old there as where it was measured."""
    stamp = ago(60)
    work = final(measured_at=stamp)
    assert build(workspace, session(work, {})) == "measured"
    later = opened(workspace.layout.root)
    assert build(later, session(work, {}, "other/t/a/0")) == "restored"
    copied = json.loads((workspace.layout.root / "artifacts/sessions/other/t/a/0.json").read_bytes())
    assert copied["body"]["measured_at"] == stamp
    assert "measured_at" not in json.dumps([copied["params"], copied["inputs"], copied.get("notes")])
    strict = opened(workspace.layout.root)
    assert build(strict, session(work, {}, "other/t/a/0", max_age_days=59)) == "measured"
    assert work.count == 2


@pytest.mark.parametrize(("days", "good"), [(89, True), (91, False), (-1, False)])
def test_the_age_runs_from_the_measurement_and_a_future_one_is_corrupt(workspace: Workspace, days: int, good: bool) -> None:
    """Spec 2.6: between 0 and 90 days; a date in the future is rejected."""
    paid = session(final(measured_at=ago(days)), {})
    assert build(workspace, paid) == "measured"
    again = session(final(measured_at=ago(0), n=2), {})
    assert build(opened(workspace.layout.root), again) == ("reused" if good else "measured")


@pytest.mark.parametrize("body", [{}, {"error_kind": "skill-not-invoked"}, {"error_kind": "no-work-produced"}])
def test_a_wrong_answer_is_evidence_and_is_never_bought_again(workspace: Workspace, body: dict[str, Any]) -> None:
    """8.1: eligibility once needed a row without any error, so that wrong reviews and failed baselines were paid again."""
    work = final(measured_at=ago(1), **body)
    assert build(workspace, session(work, {})) == "measured"
    path = workspace.layout.root / session(work, {}).target
    path.unlink()
    assert build(opened(workspace.layout.root), session(work, {})) == "restored"
    assert work.count == 1
