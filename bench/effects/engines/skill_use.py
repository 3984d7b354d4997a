"""Whether a session used a skill: shown by a command that named the skill's file and whose output holds some of its body.

True needs both and exit status 0. A command that named the file but proves nothing (its output shows no line of the body,
or shows some and failed) leaves the question open (None). No such command: False. What the agent says is never counted.
"""

from __future__ import annotations

import posixpath
import re

from bench.core import skills
from bench.effects.engines import Skill

SHORTEST_LINE = 12
"""A line of fewer characters is too common to prove a reading; in a body of short lines only, any line counts."""


class SkillWatch:
    """Follows one expected skill through a session's commands."""

    def __init__(self, skill: Skill) -> None:
        body = [line.strip() for line in skills.parted(skill.text)[1].splitlines() if line.strip()]
        self._lines = {line for line in body if len(line) >= SHORTEST_LINE} or set(body)
        folder = posixpath.dirname(skill.path)
        # The file itself, its folder (`cat folder/*`), or the file's name after a `cd` to the folder's parent.
        self._names = (folder, f"{posixpath.basename(folder)}/", posixpath.basename(skill.path))
        self._shown = False
        self._open = False

    def saw(self, command: str, output: str, *, ok: bool) -> None:
        """One finished command and what the agent was shown of its output."""
        if not any(name in command for name in self._names):
            return
        shown = any(line.strip() in self._lines for line in _unnumbered(output))
        if shown and ok:
            self._shown = True
        elif shown or ok:
            self._open = True

    @property
    def used(self) -> bool | None:
        """True, False, or None = unverifiable."""
        if self._shown:
            return True
        return None if self._open else False


def _unnumbered(output: str) -> list[str]:
    # `cat -n`, `nl` and `grep -n` put a number in front.
    lines = output.splitlines()
    return lines + [re.sub(r"\A\s*\d+[:\t -]\s?", "", line) for line in lines]


def listing(skills: tuple[Skill, ...]) -> str:
    """One line per skill for the system prompt."""
    return "\n".join(f"- {s.name}: {' '.join(s.description.split())} (file: {s.path})" for s in skills)
