"""Which arms an overlay must be measured on: all that it touches, and no others (spec 2.9, 8.6, readings 14).

An overlay that lies over several arms is one change and is promoted as one. So every arm of an incumbent that has a touched
skill needs its candidate, and a candidate that the overlay leaves as it is would only be measured against itself. Pure: the
overlay is a list of paths `<skill>/…`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bench.core.names import shown
from bench.core.skills import INSTALLED
from bench.core.suite import CALIBRATION, CANDIDATE, COMPARATOR, INCUMBENT, Arm
from bench.errors import CorpusError

REVIEW = ("review",)


def touched(paths: Iterable[str]) -> set[str]:
    """Names of the skills that an overlay's files belong to."""
    return {skill_of(path) for path in paths}


def skill_of(path: str) -> str:
    """Name of the skill that a file of an overlay belongs to."""
    return path.removeprefix(INSTALLED).partition("/")[0]


def own(arm: Arm) -> set[str]:
    """Names of an arm's skills."""
    return {folder.rpartition("/")[2] for folder in arm.skills}


SETTINGS = ("engine", "skills", "phases", "expects", "graph", "skill_tool", "params")
"""Keys of an arm that reach its sessions or what is asked of them, and are one field of it; a plugin is three."""


def beside(candidate: Arm, incumbent: Arm) -> str | None:
    """The key in which an arm differs from its incumbent beside an overlay, or None: what is applied is the overlay alone,
    and is not to be credited with another temperature."""
    plugins = [(arm.takes_plugin, arm.plugin, arm.plugin_version) for arm in (candidate, incumbent)]
    if plugins[0] != plugins[1]:
        return "plugin"
    return next((key for key in SETTINGS if getattr(candidate, key) != getattr(incumbent, key)), None)


def differs(candidate: Arm, key: str) -> tuple[str, str]:
    """What is wrong with an arm that has an overlay and differs in `key`, and the remedy."""
    what = f"{key}: the candidate {shown(candidate.name)} has an overlay, and may differ from its incumbent in nothing else"
    return what, f"take {key} out, or compare it in a candidate without an overlay"


def check(arms: Sequence[Arm], overlay: str, paths: Iterable[str]) -> None:
    """Raise CorpusError when the arms that carry `overlay` are not exactly those that it touches."""
    skills = touched(paths)
    carrying = [arm for arm in arms if arm.overlay == overlay]
    for skill in sorted(skills - {name for arm in carrying for name in own(arm)}):
        what = f"it touches the skill {shown(skill)}, which no candidate arm that carries it has"
        raise CorpusError(what, where=overlay, remedy="add that arm to the suite, or take the files out")
    for arm in carrying:
        if not own(arm) & skills:
            what = f"it touches no skill of the arm {shown(arm.name)}, which would be measured against itself"
            raise CorpusError(what, where=overlay, remedy="take the arm out")
    for arm in arms:
        shared = sorted(own(arm) & skills)
        if arm.role == INCUMBENT and shared and all(other.of != arm.name for other in carrying):
            what = f"it touches the skill {shown(shared[0])}, which the arm {shown(arm.name)} has too"
            raise CorpusError(what, where=overlay, remedy=f"add a candidate of {shown(arm.name)} that carries it")


def laid(arms: Sequence[Arm], overlay: str, paths: Iterable[str]) -> tuple[Arm, ...]:
    """The arms of a suite to benchmark a hand-made overlay: calibration, each touched pair in order, and, when the
    only candidate reviews, the comparators that review. Raises CorpusError when the suite has no arm for a touched skill.
    """
    listed = list(paths)
    skills = touched(listed)
    candidates = [arm for arm in arms if arm.role == CANDIDATE and own(arm) & skills]
    by_name = {arm.name: arm for arm in arms}
    for arm in candidates:
        if key := beside(arm, by_name[str(arm.of)]):
            what, remedy = differs(arm, key)
            raise CorpusError(what, where=overlay, remedy=remedy)
    pairs = {name for arm in candidates for name in (arm.name, arm.of)}
    alone = len(candidates) == 1 and candidates[0].phases == REVIEW
    chosen = []
    for arm in arms:
        comparing = alone and arm.role == COMPARATOR and arm.phases == REVIEW
        if arm.role == CALIBRATION or arm.name in pairs or comparing:
            chosen.append(replace(arm, overlay=overlay) if arm.role == CANDIDATE else arm)
    if not candidates:
        known = ", ".join(sorted({name for arm in arms if arm.role == CANDIDATE for name in own(arm)})) or "none"
        what = (
            f"it touches {', '.join(map(shown, sorted(skills))) or 'no skill'}, and no candidate arm of the suite has that"
        )
        raise CorpusError(what, where=overlay, remedy=f"skills of its candidates: {known}")
    check(_with(arms, chosen), overlay, listed)
    return tuple(chosen)


def _with(arms: Sequence[Arm], chosen: Sequence[Arm]) -> list[Arm]:
    """All arms, the chosen ones as chosen: an incumbent that was left out still needs its candidate."""
    by_name = {arm.name: arm for arm in chosen}
    return [by_name.get(arm.name, arm) for arm in arms]
