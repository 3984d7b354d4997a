"""Spec section 5 and issue: a candidate that is half in the tree. Whatever point an apply dies, fails or is interrupted at,
the tree is entirely old or entirely new, or a recovery file says how to get there, and `recover` gets there."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.effects.swap.test_swap import play

SEED = 20261130
POINTS = {"kill": 140, "interrupt": 60, "fail": 60}


@pytest.mark.slow
def test_no_point_of_an_apply_leaves_a_half_new_tree_without_a_way_back(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    (whole,) = play(tmp_path / "whole", [["kill", 10**9]])
    stops = whole["stops"]
    assert stops > 200
    drawn = random.Random(SEED)
    calls = stops // 2
    points: list[list[object]] = [["kill", n] for n in sorted(drawn.sample(range(1, stops + 1), POINTS["kill"]))]
    points += [["interrupt", n] for n in sorted(drawn.sample(range(1, stops + 1), POINTS["interrupt"]))]
    points += [["fail", n] for n in sorted(drawn.sample(range(1, calls), min(POINTS["fail"], calls - 1)))]
    (tmp_path / "points").mkdir()
    results = play(tmp_path / "points", points)
    assert len(results) >= 200
    seen = set()
    for result in results:
        after, recovered = result["after"], result["recovered"]
        assert after["tree"] in ("old", "new") or after["recovery"], result
        assert recovered["tree"] in ("old", "new"), result
        assert recovered["others"] == [], result
        seen.add(after["tree"])
        if result["point"][0] != "kill":
            assert not after["recovery"] or after["tree"] == "new", result
    assert seen == {"old", "new", "mixed"}  # the points did hit the middle of it
