"""The declared steps: shared by suites where they are the same, never where they are not; trees of aggregates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.core import lock as locks
from bench.errors import CorpusError, UsageError
from bench.make import cells, rows
from bench.make.pipeline import Pipeline
from tests.make import workspaces
from tests.make.workspaces import ARMS, LIMITS

GIT = {"git": "../elsewhere/repo", "ref": "main"}


def suite(root: Path, name: str, **changes: Any) -> None:
    """A suite with changes in its one task under `task`."""
    changed = changes.pop("task", {})
    workspaces.write(root, name, **changes)
    path = root / "corpus" / f"{name}.yaml"
    said = json.loads(path.read_text())
    said["tasks"][0] |= changed
    path.write_text(json.dumps(said))


def lock(root: Path, name: str, **pins: Any) -> None:
    (root / "corpus" / f"{name}.lock.json").write_text(
        json.dumps({"schema": 1, "sources": pins.get("sources", {}), "dependencies": pins.get("dependencies", {})})
    )


def loaded(root: Path, *argv: str, **given: str) -> Pipeline:
    from bench.make import workspace

    workspace._INDEXES.clear()
    return Pipeline(root, list(argv), given)


def test_suites_with_the_same_task_share_what_is_made_for_it(tmp_path: Path):
    suite(tmp_path, "a")
    suite(tmp_path, "b")
    pipeline = loaded(tmp_path)
    assert [name for name, *_ in rows.sources(pipeline)] == ["adder"]
    assert [name for name, *_ in rows.oracles(pipeline)] == ["add"]
    assert [name for name, *_ in rows.expected(pipeline)] == ["add"]


@pytest.mark.parametrize("change", [{"limits": LIMITS | {"oracle_s": 31}}, {"env_aliases": {"BENCH_ORACLE_ROOT": "X"}}])
def test_what_reaches_the_graders_run_keeps_suites_apart(tmp_path: Path, change: dict[str, Any]):
    suite(tmp_path, "a")
    suite(tmp_path, "b", **change)
    pipeline = loaded(tmp_path)
    assert [name for name, *_ in rows.expected(pipeline)] == ["add", "add@b"]
    found = {cell.name: cell.expected for cell in cells.rows(pipeline)}
    assert found["a/add/nop/0"] == "artifacts/expected/add.json"
    assert found["b/add/nop/0"] == "artifacts/expected/add@b.json"


def test_one_ref_pinned_differently_by_two_suites_is_two_sources(tmp_path: Path):
    for name, commit in (("a", "1" * 40), ("b", "2" * 40), ("c", "1" * 40)):
        suite(tmp_path, name, task={"source": GIT})
        lock(tmp_path, name, sources={locks.source_id(GIT): {"commit": commit}})
    pipeline = loaded(tmp_path)
    pinned = {name: params["source"]["commit"] for name, params, _, _ in rows.sources(pipeline)}
    plain = locks.source_id(GIT)
    assert pinned == {plain: "1" * 40, f"{plain}@b": "2" * 40}
    templates = {cell.suite.name: cell.template for cell in cells.rows(pipeline)}
    assert templates["a"] == templates["c"] == f"artifacts/templates/{plain}.json"
    assert templates["b"] == f"artifacts/templates/{plain}@b.json"


def test_a_name_made_for_one_suite_is_never_taken_from_another(tmp_path: Path):
    suite(tmp_path, "a", task={"id": "add@b", "prompt": "one"})
    suite(tmp_path, "b", task={"id": "add", "prompt": "two"})
    suite(tmp_path, "0", task={"id": "add", "prompt": "three"})
    names = loaded(tmp_path).task_names
    assert len(set(names.values())) == 3


def test_an_unlocked_source_is_refused_with_the_command_that_locks_it(tmp_path: Path):
    suite(tmp_path, "a", task={"source": GIT})
    with pytest.raises(CorpusError, match="run doit relock a"):
        list(rows.sources(loaded(tmp_path)))


def test_aggregates_are_a_tree_of_at_most_a_hundred_inputs(tmp_path: Path):
    arms = [ARMS[0] | {"name": f"nop{n}", "replica": n} for n in range(250)]
    workspaces.write(tmp_path, "wide", arms=arms)
    pipeline = loaded(tmp_path)
    found = {name: (params, needs) for name, params, needs in rows.aggregates(pipeline)}
    assert {name: len(needs) for name, (_, needs) in found.items()} == {
        "wide/add/+1/0": 100,
        "wide/add/+1/1": 100,
        "wide/add/+1/2": 50,
        "wide/add": 3,
        "wide": 1,
    }
    whole = found["wide/add"][0]["cells"]
    assert len(whole) == len({tuple(cell) for cell in whole}) == 250
    assert whole == [cell for n in range(3) for cell in found[f"wide/add/+1/{n}"][0]["cells"]]
    assert found["wide"][0]["parts"] == ["add"]


def test_a_task_of_very_many_cells_is_grouped_twice(tmp_path: Path):
    arms = [{"name": f"a{n}", "role": "comparator", "engine": "loop", "replica": n} for n in range(11)]
    workspaces.write(tmp_path, "wide", arms=arms, runs=1000, model="some/model")
    found = {name: needs for name, _, needs in rows.aggregates(loaded(tmp_path))}
    assert max(map(len, found.values())) == 100
    assert list(found["wide/add"]) == ["+2/0", "+2/1"]
    assert sum(len(needs) for needs in found.values() if not any("aggregates" in path for path in needs.values())) == 11_000


def test_many_tasks_are_grouped_before_the_suite(tmp_path: Path):
    workspaces.write(tmp_path, "many")
    path = tmp_path / "corpus" / "many.yaml"
    said = json.loads(path.read_text())
    said["tasks"] = [said["tasks"][0] | {"id": f"t{n}"} for n in range(201)]
    path.write_text(json.dumps(said))
    found = {name: needs for name, _, needs in rows.aggregates(loaded(tmp_path))}
    assert {name: len(found[name]) for name in ("many", "many/+1/0", "many/+1/1", "many/+1/2")} == {
        "many": 3,
        "many/+1/0": 100,
        "many/+1/1": 100,
        "many/+1/2": 1,
    }


def test_variables_reach_the_named_suites_alone(tmp_path: Path):
    suite(tmp_path, "a")
    suite(tmp_path, "b", default=False)
    pipeline = loaded(tmp_path, "suite:b", "arms=nop", arms="nop")
    assert [arm.name for arm in pipeline.suites["b"].arms] == ["nop"]
    assert [arm.name for arm in pipeline.suites["a"].arms] == ["nop", "gold"]
    bare = loaded(tmp_path, arms="nop")
    assert [arm.name for arm in bare.suites["a"].arms] == ["nop"]
    assert [arm.name for arm in bare.suites["b"].arms] == ["nop", "gold"]


@pytest.mark.parametrize(
    "word",
    [
        "report:b",
        "artifacts/reports/b.json",
        "artifacts/reports/b/index.html",
        "artifacts/sessions/b/add/nop/0.json",
        "report",
        "health",
        "cell*",
    ],
)
def test_variables_reach_the_suite_of_whatever_a_word_stands_for(tmp_path: Path, word: str):
    suite(tmp_path, "a")
    suite(tmp_path, "b", default=False)
    pipeline = loaded(tmp_path, word, "arms=nop", arms="nop")
    assert [arm.name for arm in pipeline.suites["b"].arms] == ["nop"]
    assert (len(pipeline.suites["a"].arms) == 2) == ("b" in word)


def test_a_free_engine_is_keyed_on_nothing_that_only_agents_see(tmp_path: Path):
    suite(tmp_path, "a")
    for cell in cells.rows(loaded(tmp_path)):
        assert set(cell.session_params) == {"engine", "role", "setup", "run", "limits"} | (
            set(cell.session_params) & {"copies"}
        )
        assert not cell.paid


def test_a_source_may_lie_outside_of_the_workspace(tmp_path: Path):
    workspaces.put(tmp_path / "outside", "adder.sh", workspaces.SOURCE)
    suite(tmp_path / "ws", "a", task={"source": {"dir": str(tmp_path / "outside")}})
    pipeline = loaded(tmp_path / "ws")
    ((_, params, files, _),) = rows.sources(pipeline)
    assert files == {"adder.sh": str(tmp_path / "outside" / "adder.sh")}
    assert str(tmp_path) not in json.dumps(params)
    assert pipeline.workspace.index.digest(files["adder.sh"]).startswith("b3:")


def test_no_corpus_and_an_empty_one(tmp_path: Path):
    with pytest.raises(UsageError, match="doit init DIR"):
        loaded(tmp_path)
    (tmp_path / "corpus").mkdir()
    with pytest.raises(CorpusError, match="no suite here"):
        loaded(tmp_path)


@pytest.mark.parametrize("patient", ["a", "b"])
def test_a_graph_may_take_as_long_as_its_most_patient_suite_allows(tmp_path: Path, patient: str):
    for name in ("a", "b"):
        seconds = 900 if name == patient else 60
        suite(tmp_path, name, graph="codeanalyzer", limits=LIMITS | {"graph_s": seconds})
    ((_, _, params),) = rows.graphs(loaded(tmp_path))
    assert params["seconds"] == 900


def test_a_source_without_a_pinned_name_gives_its_template_to_what_is_installed_beside_it(tmp_path: Path):
    suite(tmp_path, "a", task={"dependencies": {"pip": ["pytest==9.2.0"]}})
    pinned = {"sources": {}, "dependencies": {"pytest-9.2.0": []}, "schema": 1}
    workspaces.put(tmp_path, "corpus/a.lock.json", json.dumps(pinned))
    ((_, params, needs, _),) = rows.assets(loaded(tmp_path))
    assert (params["exclude_dist"], needs) == (None, {"template": "artifacts/templates/adder.json"})
