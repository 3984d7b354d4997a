"""Checks a plain JSON document, one that no person wrote by hand, against a JSON Schema. Says where, in few words."""

from __future__ import annotations

from typing import Any

import bench.schemas as schemas

SHOWN = 200
MOST = 5


def faults(document: Any, name: str) -> list[str]:
    """What does not fit the schema `name`, by place, the first few; empty = it fits."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(schemas.load(name))
    found = sorted(validator.iter_errors(document), key=lambda error: [str(part) for part in error.absolute_path])
    return [_told(error) for error in found[:MOST]]


def _told(error: Any) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    text = " ".join(str(error.message).split())
    return f"{where.removeprefix('.') or 'the document'}: {text if len(text) <= SHOWN else text[:SHOWN] + '…'}"
