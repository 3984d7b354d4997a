"""Docs that can drift are held to the code: folders in the map, steps and commands in the README, decisions and tests."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import bench.layout as layout

ROOT = Path(__file__).resolve().parents[1]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


def test_every_folder_of_the_package_is_in_the_map():
    text = (ROOT / "AGENTS.md").read_text()
    folders = {p.parent.relative_to(ROOT / "bench").parts for p in (ROOT / "bench").rglob("*.py")}
    missing = [parts for parts in folders if parts and f"{parts[-1]}/" not in text]
    assert missing == []


def test_every_step_is_in_the_readmes_table():
    text = (ROOT / "README.md").read_text()
    assert [kind for kind in [*layout.FOLDERS, "suite"] if f"| `{kind}:" not in text] == []


def test_every_command_of_ours_is_in_the_readme():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    commands = project["entry-points"]["doit.COMMAND"]
    text = (ROOT / "README.md").read_text()
    ours = [name for name, where in commands.items() if "refused" not in where and name not in ("run", "info")]
    assert [name for name in ours if f"doit {name}" not in text] == []


def test_the_readmes_first_block_has_two_commands():
    block = (ROOT / "README.md").read_text().split("```")[1].splitlines()[1:]
    assert len([line for line in block if line.strip()]) == 2


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_is_short_and_names_tests_that_exist(path: Path):
    text = path.read_text()
    named = re.findall(r"`(tests/[^`]+\.py)`", text)
    assert named, f"{path.name} names no test"
    assert [name for name in named if not (ROOT / name).is_file()] == []
    assert len(text.splitlines()) <= 100


def test_agents_md_is_short():
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 110
