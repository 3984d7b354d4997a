"""A canary is owed for what this sweep plans, whatever earlier sweeps have left behind.

Incident (failure mode 10): it was due when every key found was reusable, an earlier sweep had had more runs, so that the
keys found were never all planned, and no session ever looked at the service and machine of today.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.make import canaries
from bench.make.pipeline import Pipeline
from tests.make import scripted, workspaces
from tests.make.scripted import final, step

AGENT: dict[str, Any] = {"engine": "loop", "skills": ["skills/mend"]}
ARMS: list[dict[str, Any]] = [
    {"name": "plain", "role": "comparator", "engine": "loop"},
    AGENT | {"name": "incumbent", "role": "incumbent"},
    {"name": "candidate", "role": "candidate", "of": "incumbent", "overlay": "candidates/mend"},
]


def suite(root: Path, runs: int) -> Pipeline:
    workspaces.write(root, model="some/model", arms=[*workspaces.ARMS, *ARMS], runs=runs)
    for folder in ("skills/mend", "candidates/mend/mend"):
        workspaces.put(root, f"corpus/{folder}/SKILL.md", workspaces.SKILL)
    workspaces.put(root, "corpus/tiny.lock.json", '{"schema":1,"sources":{},"dependencies":{}}')
    return Pipeline(root, [], {})


@pytest.mark.parametrize("runs", [1, 2, 5])
def test_each_arm_that_is_compared_with_owes_one_whatever_an_earlier_sweep_had(tmp_path: Path, runs: int) -> None:
    workspace = scripted.opened(tmp_path)
    for arm in ("plain", "incumbent", "candidate"):
        for run in range(5):  # the earlier sweep
            scripted.build(workspace, step(final(run=run), f"tiny/add/{arm}/{run}", params={"arm": arm, "run": run}))
    found = {canary.name: canary for canary in canaries.rows(suite(tmp_path, runs))}
    assert list(found) == ["tiny/candidate/plain", "tiny/candidate/incumbent"]
    for name, canary in found.items():
        arm = name.rpartition("/")[2]
        planned = tuple(f"artifacts/sessions/tiny/add/{arm}/{run}.json" for run in range(runs))
        assert canary.after == planned, "what it may stand for is what is planned now, and nothing older"
        assert canary.cell.session == planned[0]
