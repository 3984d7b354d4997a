"""Spec 2.9 and incident 15: an overlay is measured on exactly the arms that it touches, or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import overlay_arms
from bench.core.suite import Arm
from bench.errors import CorpusError

NOP = Arm("nop", "calibration", "nop")
OTHER_REVIEW = Arm("other_review", "comparator", "claude", phases=("review",))
FULL = Arm("full", "incumbent", "claude", skills=("skills/plan", "skills/work"), phases=("plan", "work"))
DIRECT = Arm("direct", "incumbent", "claude", skills=("skills/work",))
REVIEW = Arm("review", "incumbent", "claude", skills=("skills/look",), phases=("review",))
PAIRS = [
    replace(arm, name=f"candidate_{arm.name}", role="candidate", of=arm.name, overlay="old")
    for arm in (FULL, DIRECT, REVIEW)
]
ARMS = [NOP, OTHER_REVIEW, FULL, PAIRS[0], DIRECT, PAIRS[1], REVIEW, PAIRS[2]]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["plan/SKILL.md"], ["nop", "full", "candidate_full"]),
        (["work/SKILL.md"], ["nop", "full", "candidate_full", "direct", "candidate_direct"]),
        ([".claude/skills/look/SKILL.md"], ["nop", "other_review", "review", "candidate_review"]),
        (
            ["look/SKILL.md", "work/a.md"],
            ["nop", "full", "candidate_full", "direct", "candidate_direct", "review", "candidate_review"],
        ),
    ],
)
def test_arms_follow_from_the_touched_skills(paths: list[str], expected: list[str]) -> None:
    arms = overlay_arms.laid(ARMS, "mine", paths)
    assert [arm.name for arm in arms] == expected
    assert {arm.overlay for arm in arms if arm.role == "candidate"} == {"mine"}
    overlay_arms.check(arms, "mine", paths)


def test_a_touched_incumbent_without_its_candidate_is_refused() -> None:
    arms = [arm for arm in ARMS if arm.name != "candidate_direct"]
    with pytest.raises(CorpusError, match="which the arm 'direct' has too"):
        overlay_arms.laid(arms, "mine", ["work/SKILL.md"])


def test_an_untouched_pair_is_refused() -> None:
    arms = [replace(arm, overlay="mine") if arm.role == "candidate" else arm for arm in ARMS]
    with pytest.raises(CorpusError, match=r"no skill of the arm 'candidate_\w+', which would be measured against itself"):
        overlay_arms.check(arms, "mine", ["plan/SKILL.md"])


def test_a_skill_that_no_arm_has_is_refused() -> None:
    with pytest.raises(CorpusError, match="no candidate arm of the suite"):
        overlay_arms.laid(ARMS, "mine", ["unknown/SKILL.md"])
    with pytest.raises(CorpusError, match="which no candidate arm that carries it has"):
        overlay_arms.laid(ARMS, "mine", ["unknown/SKILL.md", "plan/SKILL.md"])


def test_a_hand_made_overlay_is_not_laid_on_an_arm_that_differs_otherwise() -> None:
    arms = [replace(arm, params={"temperature": 0}) if arm.role == "candidate" else arm for arm in ARMS]
    with pytest.raises(CorpusError, match=r"mine: params: the candidate '.*' has an overlay"):
        overlay_arms.laid(arms, "mine", ["plan/SKILL.md"])


PATHS = st.builds(
    "{}{}/{}".format,
    st.sampled_from(["", ".claude/skills/"]),
    st.sampled_from(["plan", "work", "look"]),
    st.sampled_from(["SKILL.md", "a.md", "b/c.md"]),
)


@given(st.lists(PATHS, min_size=1), st.permutations(ARMS))
def test_what_is_laid_is_the_exact_set_whatever_is_touched(paths: list[str], arms: list[Arm]) -> None:
    laid = overlay_arms.laid(arms, "mine", paths)
    overlay_arms.check(laid, "mine", paths)
    skills = overlay_arms.touched(paths)
    carrying = [arm for arm in laid if arm.overlay == "mine"]
    assert {arm.of for arm in carrying} == {
        arm.name for arm in arms if arm.role == "incumbent" and overlay_arms.own(arm) & skills
    }
    assert {arm.name for arm in laid if arm.role == "incumbent"} == {arm.of for arm in carrying}
    assert ("other_review" in {arm.name for arm in laid}) == (skills == {"look"}), "no comparator for a mixed overlay"
    names = [arm.name for arm in arms]
    assert [names.index(arm.name) for arm in laid] == sorted(names.index(arm.name) for arm in laid)
    for gone in carrying:
        with pytest.raises(CorpusError):
            overlay_arms.check([arm for arm in laid if arm != gone], "mine", paths)
    spare = [
        replace(arm, overlay="mine") for arm in arms if arm.role == "candidate" and arm.name not in {a.name for a in laid}
    ]
    for more in spare:
        with pytest.raises(CorpusError):
            overlay_arms.check([*laid, more], "mine", paths)
