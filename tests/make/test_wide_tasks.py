"""A task with more cells than one aggregate may take is still one task: its medians, its calibration, its gate."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from bench.core import aggregate as core
from bench.core import comparison
from bench.core.records import Record
from bench.make import promotions, rows
from bench.make.pipeline import Pipeline
from bench.steps import aggregate, promotion
from tests.make import workspaces
from tests.make.test_pipeline import loaded
from tests.make.test_promotions import ARMS
from tests.steps.evidence import Evidence
from tests.steps.making import job_of


def declared(root: Path, runs: int) -> Pipeline:
    workspaces.write(root, model="some/model", runs=runs, arms=[*workspaces.ARMS, *ARMS[:2]])
    for folder in ("skills/mend", "candidates/mend/mend"):
        workspaces.put(root, f"corpus/{folder}/SKILL.md", workspaces.SKILL)
    return loaded(root)


def aggregated(pipeline: Pipeline, evidence: Evidence, cells: dict[str, Record]) -> dict[str, Record]:
    """Every aggregate that is declared, by path, made of cells by path."""
    made = dict(cells)
    for name, params, needs in rows.aggregates(pipeline):
        inputs = {role: made[path] for role, path in needs.items() if path in made}
        body = aggregate.make(job_of("aggregate", evidence.context, params, inputs=inputs), evidence.context).body
        made[f"artifacts/aggregates/{name}.json"] = evidence.record("aggregate", name, dict(body))
    return made


def measured(evidence: Evidence, runs: int, *, nop_passes: bool = False) -> dict[str, Record]:
    """Cells by path: calibration, and two arms whose costs differ from run to run."""
    evidence.params["suite"] = "tiny"
    evidence.cell("add", "nop", 0, b"", resolved=nop_passes, oracle_passed=nop_passes)
    evidence.cell("add", "gold", 0, b"", resolved=True, oracle_passed=True)
    costs = random.Random(runs)
    for run in range(runs):
        for arm, cost in (("incumbent", 2.0), ("candidate", 1.0)):
            facts: dict[str, Any] = {"cost_usd": cost + costs.random(), "churn_digest": f"{arm}{run}"}
            evidence.cell("add", arm, run, resolved=True, oracle_passed=True, ok=True, model="demo-large", **facts)
    return {f"artifacts/cells/tiny/add/{place}.json": record for place, record in evidence.cells["add"].items()}


@pytest.mark.parametrize("runs", [1, 48, 49, 50, 60, 99, 100, 101, 149, 150])
def test_what_is_said_of_a_task_does_not_depend_on_how_its_cells_are_grouped(tmp_path: Path, runs: int) -> None:
    pipeline, evidence = declared(tmp_path / "ws", runs), Evidence(tmp_path / "evidence")
    cells = measured(evidence, runs)
    missing = f"artifacts/cells/tiny/add/candidate/{runs // 2}.json"
    del cells[missing]
    made = aggregated(pipeline, evidence, cells)
    whole = []
    for cell in pipeline.matrices["tiny"].cells:
        identity = {"task": "add", "class": "trivial", "arm": cell.arm.name, "role": cell.arm.role, "run": cell.run}
        whole.append(core.compact(identity, cells.get(f"artifacts/cells/tiny/{cell.name}.json")))
    engines = {"nop": "nop", "gold": "gold", "incumbent": "loop", "candidate": "loop"}
    expected = core.of_task({"task": "add", "class": "trivial", "engines": engines}, whole)
    assert made["artifacts/aggregates/tiny/add.json"].body == expected
    assert made["artifacts/aggregates/tiny.json"].body == core.merged([expected], [])
    assert (expected["planned"], expected["measured"]) == (2 * runs + 2, 2 * runs + 1)


def test_the_report_shows_a_task_once_with_all_of_its_runs(tmp_path: Path) -> None:
    pipeline, evidence = declared(tmp_path / "ws", 60), Evidence(tmp_path / "evidence")
    body = aggregated(pipeline, evidence, measured(evidence, 60))["artifacts/aggregates/tiny.json"].body
    ((task,),) = [entry["tasks"] for entry in comparison.table(body, {"candidate": "incumbent"})]
    assert {arm: group["planned"] for arm, group in task["cells"].items()} == {
        "nop": 1, "gold": 1, "incumbent": 60, "candidate": 60,
    }  # fmt: skip


@pytest.mark.parametrize("runs", [40, 60])
def test_a_broken_task_promotes_nothing_however_many_runs_it_has(tmp_path: Path, runs: int) -> None:
    pipeline, evidence = declared(tmp_path / "ws", runs), Evidence(tmp_path / "evidence")
    made = aggregated(pipeline, evidence, measured(evidence, runs, nop_passes=True))
    ((_, params, _, _),) = promotions.rows(pipeline)
    inputs = {"aggregate": made["artifacts/aggregates/tiny.json"]}
    done = promotion.make(job_of("promotion", evidence.context, params, inputs=inputs), evidence.context)
    document = json.loads(evidence.store.get(done.outputs["promotion"].blob))
    (check,) = [check for check in document["decisions"][0]["checks"] if check["check"] == "calibration"]
    assert (document["decision"], check["verdict"], check["value"]) == ("insufficient_evidence", "insufficient", "broken")
