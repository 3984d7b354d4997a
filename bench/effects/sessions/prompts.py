"""What a phase is told: the task's own text, with the phase's order from a data file around it."""

from __future__ import annotations

import importlib.resources
import string
from collections.abc import Mapping


def of_phase(phase: str, task: str, names: Mapping[str, str]) -> str:
    """The prompt of a phase; `names` are the paths and variables that its order mentions."""
    text = importlib.resources.files("bench.effects.engines").joinpath("prompts", f"{phase}.md").read_text("utf-8")
    return string.Template(text).substitute(names, task=task.strip())
