"""lm-eval 2715 and 4123: a changed prompt or a second model got the first one's cached answers.

A cassette answers the conversation that it recorded and no other; and five runs of a cell (promptfoo 360, 1431: repeats
that were one cached answer) play five takes.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.effects.cassette_author import authored
from tests.effects.engines.test_loop import MODEL, play, script, work


@pytest.mark.parametrize("prompt", ["Do it!", "do it.", "Do it. Carefully.", ""])
def test_a_changed_prompt_is_never_answered(tmp_path: Path, prompt: str) -> None:
    outcome = play(work(authored(MODEL, "anthropic", [script("touch touched")]), prompt=prompt), tmp_path)
    assert outcome.error_class == "cassette-mismatch"
    assert not (tmp_path / "touched").exists()


def test_turns_of_another_model_are_never_answered(tmp_path: Path) -> None:
    raw = json.loads(authored(MODEL, "anthropic", [script("true", "touch touched")]))
    raw["conversations"][0]["turns"][1]["request"]["model"] = "anthropic/another"
    outcome = play(work(json.dumps(raw).encode()), tmp_path)
    assert outcome.error_class == "cassette-mismatch"
    assert "turn 1, field model" in str(outcome.error_detail)
    assert not (tmp_path / "touched").exists()


def test_five_runs_are_five_takes(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script(f"echo take {n}", take=n) for n in range(5)])
    assert len({play(work(tape, run=run), tmp_path).transcript for run in range(5)}) == 5
