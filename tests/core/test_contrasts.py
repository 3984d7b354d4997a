"""Which arms stand against which, what is left out, and what a reader sees of it."""

from __future__ import annotations

from typing import Any

from bench.core import aggregate, contrasts

ROLES = {"nop": "calibration", "gold": "calibration", "baseline": "comparator", "old": "incumbent", "new": "candidate"}
TASKS = tuple(f"t{place}" for place in range(8))


def row(task: str, arm: str, run: int, *, resolved: bool, **fields: Any) -> dict[str, Any]:
    base = {"task": task, "class": "trivial", "arm": arm, "role": ROLES[arm], "run": run, "state": "final"}
    return base | {"resolved": resolved, "oracle_passed": resolved, "cost_usd": 1.0} | fields


def suite(broken: tuple[str, ...] = (), arms: tuple[str, ...] = tuple(ROLES), runs: int = 2, **more: Any) -> dict[str, Any]:
    parts = []
    for task in TASKS:
        rows = []
        for arm in arms:
            if arm in ("nop", "gold"):
                rows.append(row(task, arm, 0, resolved=arm == "gold" or task in broken))
            else:
                rows += [row(task, arm, run, resolved=arm == "new" or not run, **more) for run in range(runs)]
        parts.append(aggregate.of_task({"task": task, "class": "trivial"}, rows))
    return aggregate.merged(parts, [])


def test_candidates_against_incumbents_come_first_then_all_against_the_baseline() -> None:
    found = contrasts.build(suite(), {"new": "old"})
    assert found is not None
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [("new", "old"), ("old", "baseline"), ("new", "baseline")]
    assert [arm["name"] for arm in found["arms"]] == ["baseline", "old", "new"]
    assert found["tests"] == 3


def test_a_pair_shows_a_sentence_and_a_row_per_measure() -> None:
    found = contrasts.build(suite(), {})
    assert found is not None
    pair = found["pairs"][0]
    assert pair["short"] == "This gain is more than chance explains (p = 0.008 over 8 tasks)."
    first, second = pair["rows"]
    assert (first["measure"], first["a"], first["b"], first["gain"]) == (
        "Resolved runs",
        "100.0 %",
        "50.0 %",
        "+50.0 points",
    )
    assert first["p"] == "0.008 (0.023 adjusted)"
    assert (second["gain"], second["verdict"]) == ("the same", "even")
    assert found["arms"][2]["once"] == "100 % (63–100)"
    assert found["arms"][1]["flips"] == "100 % (63–100)"


def test_broken_tasks_are_left_out_and_named() -> None:
    found = contrasts.build(suite(broken=("t0", "t1")), {})
    assert found is not None
    assert found["left_out"] == ["t0", "t1"]
    assert found["pairs"][0]["found"]["tasks"] == 6


def test_what_holds_for_every_pair_is_said_once() -> None:
    found = contrasts.build(suite(replayed=True, runs=1), {})
    assert found is not None
    assert len(found["notes"]) == 2
    assert not any(line in pair["lines"] for pair in found["pairs"] for line in found["notes"])


def test_one_arm_alone_has_nothing_to_be_compared_with() -> None:
    assert contrasts.build(suite(arms=("nop", "gold", "old")), {}) is None
    assert contrasts.build(aggregate.merged([], []), {}) is None


def test_the_brief_form_has_every_number_but_those_of_single_tasks() -> None:
    found = contrasts.build(suite(), {})
    assert found is not None
    brief = contrasts.brief(found["pairs"][0])
    assert brief["measures"]["resolved"]["improves"]
    assert "per_task" not in brief["measures"]["resolved"]
    assert "per_task" in found["pairs"][0]["found"]["measures"]["resolved"]


def test_arms_without_a_task_in_common_are_not_compared() -> None:
    def part(task: str, arms: tuple[str, ...]) -> dict[str, Any]:
        return aggregate.of_task({"task": task, "class": "trivial"}, [row(task, arm, 0, resolved=True) for arm in arms])

    found = contrasts.build(aggregate.merged([part("t0", ("baseline", "old")), part("t1", ("new",))], []), {})
    assert found is not None
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [("old", "baseline")]
    assert found["tests"] == 1
