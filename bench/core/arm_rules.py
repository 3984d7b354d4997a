"""What an arm may combine: engine, phases, skills, expected skills, plugin. Looks at one arm alone, reads nothing.

Whether a plugin has the skill that an arm expects of it is known once its files are read: the skill step asks that.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from bench.core import nearest, semver
from bench.core.names import shown
from bench.core.suite import CALIBRATION, FREE_ENGINES, PHASES, Arm
from bench.errors import CorpusError

HEADLESS = "claude"
"""The engine that has a Skill tool and plugins."""
PATH_BYTES = 4096


def check(arm: Arm, where: str) -> None:
    """Raise CorpusError, placed at `where`, for the first combination that cannot run."""
    for what, remedy in _faults(arm):
        raise CorpusError(what, where=where, remedy=remedy)


def _faults(arm: Arm) -> Iterator[tuple[str, str]]:
    called = f"the arm {shown(arm.name)}"
    free = arm.engine in FREE_ENGINES
    if arm.role == CALIBRATION and not free:
        yield f"the calibration arm {shown(arm.name)} has the engine {arm.engine!r}", "use nop or gold"
    if free and (arm.skills or arm.overlay or arm.expects or arm.graph or arm.params or arm.takes_plugin):
        yield f"the engine {arm.engine!r} of arm {shown(arm.name)} uses no skills, graph or params", ""
    if arm.phases not in PHASES:
        yield f"phases: {called} has {list(arm.phases)}", "one of [work], [plan, work], [review]"
    if arm.engine != HEADLESS:
        for key, used in _headless(arm):
            if used:
                yield f"{key}: {called} has the engine {arm.engine!r}", f"use engine: {HEADLESS}"
    yield from _skill_faults(arm, called)
    yield from _plugin_faults(arm)


def _headless(arm: Arm) -> Iterator[tuple[str, bool]]:
    yield "skill_tool", not arm.skill_tool
    yield "plugin", arm.takes_plugin


def _skill_faults(arm: Arm, called: str) -> Iterator[tuple[str, str]]:
    skills = [skill.rpartition("/")[2] for skill in arm.skills]
    if arm.overlay and not skills:
        yield f"{called} has an overlay, but no skills to lay it over", "add skills:"
    if len({skill.casefold() for skill in skills}) < len(skills):
        yield f"two skills of {called} have the same name", "rename one"
    if not arm.skill_tool and (skills or arm.expects or arm.takes_plugin):
        yield f"skill_tool: {called} has skills, and no tool to load them with", "take the skills out, or skill_tool: false"
    for phase, skill in arm.expects.items():
        if phase not in arm.phases:
            yield f"expects: {called} has no phase {phase!r}", f"its phases: {', '.join(arm.phases)}"
        if not arm.overlay and not arm.takes_plugin and skill not in skills:
            yield f"expects: {called} has no skill {shown(skill)}", nearest.remedy(skill, skills)


def _plugin_faults(arm: Arm) -> Iterator[tuple[str, str]]:
    if arm.plugin is not None and (fault := path_fault(arm.plugin)):
        yield f"plugin.dir: {shown(arm.plugin)} {fault}", "name a directory"
    if arm.plugin_version is not None and not semver.exact(arm.plugin_version):
        yield f"plugin.version: {shown(arm.plugin_version)} is not an exact version", "write MAJOR.MINOR.PATCH"


def from_workspace(folder: str) -> str:
    """A directory as the command line names it, relative to the workspace, as an arm would: relative to corpus/."""
    return folder if folder.startswith(("/", "~")) else posixpath.normpath(posixpath.join("..", folder))


def path_fault(path: str) -> str | None:
    """Why a plugin's directory cannot be called that, or None; absolute paths are allowed, as for sources."""
    if path.startswith("-") or not path.isprintable() or path != path.strip() or not path:
        return "is not a path"
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return "is not a path"
    return f"is longer than {PATH_BYTES} bytes" if size > PATH_BYTES else None
