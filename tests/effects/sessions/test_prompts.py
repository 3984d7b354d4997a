from __future__ import annotations

import pytest

from bench.effects.sessions import prompts

NAMES = {"plan": "/workspace/p.md", "review": "/review-output/r.json", "variable": "BENCH_REVIEW_OUTPUT"}


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        ("plan", ["`/workspace/p.md`", "only one that you may add or change"]),
        ("work", ["`/workspace/p.md`", "carry it out"]),
        ("review", ["`/review-output/r.json`", "BENCH_REVIEW_OUTPUT", "`schema_version`: 1", "change nothing"]),
    ],
)
def test_each_phase_is_told_the_task_and_its_places(phase: str, words: list[str]) -> None:
    said = prompts.of_phase(phase, "Costs $5: fix $x.\n\n", NAMES)
    assert said.startswith("Costs $5: fix $x.\n")
    assert [word for word in words if word not in said] == []
