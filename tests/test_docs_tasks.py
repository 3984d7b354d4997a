"""The examples of docs/tasks.md and docs/migrating.md are read by the parser, and the words they use exist."""

import re
from pathlib import Path

import pytest

from bench.core import overrides
from tests.core import suites

ROOT = Path(__file__).parents[1]
TASKS = (ROOT / "docs" / "tasks.md").read_text("utf-8")
MIGRATING = (ROOT / "docs" / "migrating.md").read_text("utf-8")
ARMS = (ROOT / "corpus" / "arms.yaml").read_text("utf-8")
ARMS_PAGE = (ROOT / "docs" / "arms.md").read_text("utf-8")
PROMOTIONS = (ROOT / "docs" / "promotions.md").read_text("utf-8")
HEAD = "suite: mine\narms: [nop, gold]\ntasks:\n  - id: x\n    class: x\n    prompt: x\n    verify: x\n"


def blocks(text):
    return [block.replace("…", suites.HEX) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]


def test_the_first_example_is_a_whole_suite():
    suite = suites.parse_text(blocks(TASKS)[0], ARMS, path="corpus/mine.yaml")
    assert [arm.name for arm in suite.arms] == ["nop", "gold", "baseline", "incumbent", "candidate"]


@pytest.mark.parametrize("number", [1, 2])
def test_the_other_examples_are_parts_of_a_task(number):
    block = blocks(TASKS)[number]
    rest = "" if "gold:" in block else "    gold: x.patch\n"
    rest += "" if "source: {" in block.split("oracle:")[0] else "    source: {dir: repos/x}\n"
    task = suites.parse_text(HEAD + rest + block, ARMS, path="corpus/mine.yaml").tasks[0]
    assert task.oracle is not None


def test_the_aliases_of_the_migration_guide_are_taken():
    text = HEAD.replace("gold]", "baseline_nomcp]") + "    source: {dir: x}\n" + blocks(MIGRATING)[0]
    assert suites.parse_text(text, ARMS, path="corpus/mine.yaml").env_aliases


def test_every_variable_of_the_command_line_is_in_the_guide():
    missing = [name for name in overrides.VARIABLES if f"{name}=" not in MIGRATING and name != "workers"]
    assert missing == []


KNOBS = "MODEL EFFORT RUNS WORKERS PROVIDER INCLUDE_EXPENSIVE UNSAFE_NO_BWRAP SEED_RESULTS GENERATIONS PROFILE"
OPTIONS = "--arms --tasks --dry-run --base-url --reuse-results --out --apply"


@pytest.mark.parametrize("knob", f"{KNOBS} {OPTIONS}".split())
def test_every_knob_of_the_reference_is_in_the_guide(knob):
    assert f"`{knob}`" in MIGRATING


def test_the_example_of_the_arms_page_is_read_and_names_every_arm_of_the_library():
    text = blocks(ARMS_PAGE)[0].replace("first-task", "x")
    suite = suites.parse_text(
        f"suite: mine\ngraph: codeanalyzer\n{text}{HEAD.split('gold]')[1]}    source: {{dir: x}}\n",
        ARMS,
        path="corpus/mine.yaml",
    )
    assert [arm.name for arm in suite.arms] == ["workflow", "baseline", "mine"]
    assert all(f"`{name}`" in ARMS_PAGE for name in re.findall(r"name: ([a-z_]+)", ARMS))


def test_the_example_of_a_review_case_is_one():
    head = "suite: mine\ngraph: codeanalyzer\narms: [nop, gold, review]\n"
    suite = suites.parse_text(head + blocks(TASKS)[3], ARMS, path="corpus/mine.yaml")
    assert suite.profile == "review"
    assert suite.tasks[0].review
    assert suite.tasks[0].patch


def test_the_examples_of_replicas_and_mirrors_are_read():
    rest = HEAD.partition("tasks:")[2] + "    source: {dir: x}\n    gold: x.patch\n"
    text = f"suite: mine\n{blocks(ARMS_PAGE)[1]}{blocks(PROMOTIONS)[0]}tasks:{rest}"
    suite = suites.parse_text(text, ARMS, path="corpus/mine.yaml")
    assert [arm.replica for arm in suite.arms] == [None, None, None, 1]
    assert [mirror.folder for mirror in suite.mirrors] == ["plugins/ours/skills", "cursor/skills"]
