"""A plan must not promise a live model at the price of what stands on disk: a replay for nothing, or another model."""

from __future__ import annotations

from pathlib import Path

from bench.core.records import NOT_RUN
from bench.make.commands.plan import costs
from bench.make.costs import history
from tests.make import scripted


def test_what_sessions_cost_is_known_for_their_own_model_and_effort_alone(tmp_path: Path):
    workspace = scripted.opened(tmp_path)
    told = [
        ("a", "replay/x", None, 0.0),
        ("b", "live/x", None, 2.0),
        ("c", "live/x", None, 4.0),
        ("d", "live/x", "high", 9.0),
    ]
    for arm, model, effort, spent in told:
        params = {"model": model, "effort": effort, "replica": arm}
        made = scripted.step(scripted.final(spent_usd=spent), f"s/t/{arm}/0", params=params, paid=True)
        scripted.build(workspace, made)
    known = costs(workspace)
    of_task = {family: dollars for family, dollars in known.items() if family[0] == "s/t"}
    assert of_task == {("s/t", "replay/x", "None"): 0.0, ("s/t", "live/x", "None"): 3.0, ("s/t", "live/x", "high"): 9.0}
    of_arm = {family: dollars for family, dollars in known.items() if family[:2] == ("s", "b")}
    assert of_arm == {("s", "b", "live/x", "None"): 2.0}
    assert not [family for family in known if "other/x" in family]


def test_what_was_held_back_or_stands_for_a_session_is_no_price(tmp_path: Path):
    workspace = scripted.opened(tmp_path)
    params = {"model": "live/x", "effort": None}
    for run, (work, name) in enumerate(
        [
            (scripted.final(spent_usd=2.0), "s/t/a/0"),
            (scripted.Work({"spent_usd": 0.0}, NOT_RUN), "s/t/a/1"),
            (scripted.unusable(0.0), "s/t/a/2"),
        ]
    ):
        scripted.build(workspace, scripted.step(work, name, params=params | {"run": run}, paid=True))
    stood = scripted.final(spent_usd=0.0, stands_for="s/t/a/0")
    scripted.build(workspace, scripted.step(stood, "s/new/a", kind="canary", params=params, paid=True))
    assert costs(workspace) == {("s/t", "live/x", "None"): 2.0, ("s", "a", "live/x", "None"): 2.0}
    session = workspace.steps["artifacts/sessions/s/t/a/0.json"]
    assert history(workspace, session, wide=False) == history(workspace, session, wide=True) == [2.0]
