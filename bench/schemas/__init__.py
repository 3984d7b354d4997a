"""JSON Schemas (2020-12) of the file formats, as package data. Loaded only when a file is to be checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SUFFIX = ".schema.json"


def path(name: str) -> Path:
    """Where the schema of that name, such as `suite`, is."""
    return Path(__file__).with_name(name + SUFFIX)


def load(name: str) -> dict[str, Any]:
    """The schema of that name."""
    schema: dict[str, Any] = json.loads(path(name).read_bytes())
    return schema


def names() -> list[str]:
    """All schemas shipped."""
    return sorted(p.name[: -len(SUFFIX)] for p in Path(__file__).parent.glob("*" + SUFFIX))
