"""Evidence that a skill was read: the file's own words in the output of a command that named it."""

from __future__ import annotations

import pytest

from bench.effects.engines import Skill
from bench.effects.engines.skill_use import SkillWatch, listing

TEXT = "---\nname: careful\ndescription: Be careful with everything.\n---\n# Careful\n\nRun the tests twice, always.\n"
PATH = "/opt/skills/careful/SKILL.md"
SKILL = Skill("careful", "Be careful with everything.", PATH, TEXT)


@pytest.mark.parametrize(
    ("command", "output", "ok", "used"),
    [
        (f"cat {PATH}", TEXT, True, True),
        ("cd /opt/skills && cat careful/SKILL.md", TEXT, True, True),
        ("cat /opt/skills/*/SKILL.md", TEXT, True, True),
        (f"cat -n {PATH}", "     7\tRun the tests twice, always.\n", True, True),
        (f"grep -n tests {PATH}", "7:Run the tests twice, always.\n", True, True),
        # The front matter is in the system prompt already.
        (f"head -3 {PATH}", "---\nname: careful\ndescription: Be careful with everything.\n", True, None),
        (f"cat {PATH} > copy", "", True, None),
        (f"cat {PATH} && false", TEXT, False, None),
        (f"cat {PATH}", "cat: no such file\n", False, False),
        ("echo Run the tests twice, always.", "Run the tests twice, always.\n", True, False),
        ("ls", "README\n", True, False),
    ],
)
def test_use_is_shown_or_not_or_open(command: str, output: str, ok: bool, used: bool | None) -> None:
    watch = SkillWatch(SKILL)
    watch.saw(command, output, ok=ok)
    assert watch.used is used


@pytest.mark.parametrize("front", ["\ufeff---\n{}---\n", "--- \n{}---\t\n", "---\r\n{}---\r\n", "---\n{}---"])
def test_what_any_front_matter_says_is_no_reading(front: str) -> None:
    described = "description: Be careful with everything.\n"
    body = "" if front.endswith("---") else "# Careful\n\nRun the tests twice, always.\n"
    watch = SkillWatch(Skill("careful", "d", PATH, front.format(f"name: careful\n{described}") + body))
    watch.saw(f"grep description: {PATH}", described, ok=True)
    assert watch.used is None


def test_one_success_is_enough_whatever_comes_before_or_after() -> None:
    watch = SkillWatch(SKILL)
    watch.saw(f"cat {PATH} > copy", "", ok=True)
    watch.saw(f"cat {PATH}", TEXT, ok=True)
    watch.saw(f"cat {PATH}", "cat: no such file", ok=False)
    assert watch.used is True


def test_a_body_of_short_lines_can_be_read_too() -> None:
    watch = SkillWatch(Skill("s", "d", PATH, "Be brief.\n"))
    watch.saw(f"cat {PATH}", "Be brief.\n", ok=True)
    assert watch.used is True


def test_a_listing_has_one_line_per_skill_and_no_body() -> None:
    told = listing((Skill("a", "one\ntwo", "/opt/skills/a/SKILL.md", TEXT), SKILL))
    assert told.splitlines() == [
        "- a: one two (file: /opt/skills/a/SKILL.md)",
        f"- careful: Be careful with everything. (file: {PATH})",
    ]
