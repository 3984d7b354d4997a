"""A plan must not promise a live model at the price of what stands on disk: a replay for nothing, or another model."""

from __future__ import annotations

from pathlib import Path

from bench.make.commands.plan import costs
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
