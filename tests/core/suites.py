"""A small suite to vary in tests: as plain data, and as the text of its file."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from bench.core import corpus
from bench.core.suite import Suite
from bench.errors import CorpusError, UsageError

PATH = "corpus/demo.yaml"
ARMS_PATH = "corpus/arms.yaml"
ARMS: dict[str, Any] = {
    "arms": [
        {"name": "nop", "role": "calibration", "engine": "nop"},
        {"name": "gold", "role": "calibration", "engine": "gold"},
        {"name": "baseline", "role": "comparator", "engine": "loop"},
        {"name": "incumbent", "role": "incumbent", "engine": "loop", "skills": ["skills/hunt"], "expects": "hunt"},
        {"name": "candidate", "role": "candidate", "of": "incumbent", "overlay": "candidates/hunt"},
    ]
}
TASK: dict[str, Any] = {
    "id": "parse-duration",
    "class": "investigation-bug",
    "source": {"dir": "repos/clockwork"},
    "prompt": "Mend it.",
    "verify": "python -m pytest -q",
}
ORACLE: dict[str, Any] = {
    "pytest": {"paths": ["test_hidden.py"], "pythonpath": ["src"]},
    "files": [{"source": "parse-duration/test_hidden.py", "target": "test_hidden.py"}],
}
SUITE: dict[str, Any] = {
    "suite": "demo",
    "arms": ["nop", "baseline", "incumbent", "candidate"],
    "tasks": [TASK],
}
HEX = "0123456789abcdef" * 4


def suite(**changes: Any) -> dict[str, Any]:
    """The suite as plain data with keys replaced; a key set to None is taken out."""
    return _changed(SUITE, changes)


def task(**changes: Any) -> dict[str, Any]:
    """Its task, likewise; `cls` stands for `class`."""
    if "cls" in changes:
        changes["class"] = changes.pop("cls")
    return _changed(TASK, changes)


def parse(data: Any, arms: Any = ARMS) -> Suite:
    """Parse plain data; JSON is YAML."""
    return parse_text(json.dumps(data), arms)


def parse_text(text: str, arms: Any = ARMS, *, path: str = PATH) -> Suite:
    """Parse the text of a suite file."""
    arms_text = arms if arms is None or isinstance(arms, str) else json.dumps(arms)
    return corpus.parse_suite(text, path=path, arms_text=arms_text, arms_path=ARMS_PATH)


def parse_task(**changes: Any) -> Any:
    """The one task of a suite whose task has these changes."""
    return parse(suite(tasks=[task(**changes)])).tasks[0]


def fault(call: Callable[..., Any], *args: Any, **kwargs: Any) -> str | None:
    """What a call says when it refuses its input, or None when it takes it. Any other exception comes through."""
    try:
        call(*args, **kwargs)
    except (CorpusError, UsageError) as error:
        return str(error)
    return None


def _changed(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    data = copy.deepcopy(base) | changes
    return {key: value for key, value in data.items() if value is not None}
