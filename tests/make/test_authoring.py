"""Scripts of cassettes that are written by hand: what is wrong with one is said with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.errors import CorpusError
from bench.make import authoring
from tests.make import workspaces

SCRIPT = """suite: tiny
model: anthropic/claude-sonnet-4-5
format: anthropic
skills: {shipped: {mend: skills/mend/SKILL.md}}
moves:
  look: {text: Look., run: cat adder.sh, back: 10}
  call: {text: Call., calls: [{tool: Read, input: {path: adder.sh}}], back: 10}
conversations:
  - {task: add, takes: [[look]]}
  - {task: add, offers: shipped, takes: [[look]]}
"""
PLACE = "corpus/cassettes/tiny.script.yaml"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    workspaces.tiny(tmp_path)
    workspaces.put(tmp_path, "corpus/skills/mend/SKILL.md", workspaces.SKILL)
    return workspaces.put(tmp_path, PLACE, SCRIPT)


def test_the_script_that_is_varied_here_makes_a_cassette(script: Path) -> None:
    assert authoring.write(script).read_bytes() == authoring.cassette(script)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (SCRIPT, "", "must be a mapping, not null"),
        (SCRIPT, "- a", "must be a mapping, not a list"),
        ("suite: tiny\n", "", "the key 'suite' is missing"),
        ("suite: tiny", "suite: other", "no such file"),
        ("model: anthropic/claude-sonnet-4-5\n", "", "the key 'model' is missing"),
        ("model: anthropic/claude-sonnet-4-5", "model: 4.5", ":2:8: model: must be text"),
        ("format: anthropic", "format: grpc", "unknown cassette format 'grpc'"),
        ("back: 10}", "back: ten}", ":6:"),
        ("run: cat adder.sh, ", "", "needs either run or calls"),
        ("{task: add, takes: [[look]]}", "{takes: [[look]]}", "needs either task or asks"),
        ("[[look]]", "[[]]", "must have at least one entry"),
        ("[[look]]", "[[leap]]", "'leap' is not defined"),
        ("[[look]]", "[[call]]", "'run' is not defined"),
        ("task: add", "task: mul", "'mul' is not defined"),
        ("task: add", "arm: nop, phase: plan, task: add", "'plan' is not defined"),
        ("task: add", "arm: no, task: add", "must be text, not false"),
        ("offers: shipped", "offers: changed", "'changed' is not defined"),
        ("Look.", "Look.\udcff", "is not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_script_is_said_in_one_line(script: Path, old: str, new: str, told: str) -> None:
    assert old in SCRIPT
    script.write_bytes(SCRIPT.replace(old, new, 1).encode("utf-8", "surrogateescape"))
    with pytest.raises(CorpusError) as refused:
        authoring.cassette(script)
    assert told in str(refused.value)


def test_a_skill_that_is_not_utf_8_is_named(script: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus/skills/mend/SKILL.md").write_bytes(b"\xff")
    with pytest.raises(CorpusError, match=r"mend/SKILL.md: is not UTF-8 .byte 0"):
        authoring.cassette(script)
