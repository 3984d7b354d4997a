"""Checks a located document against a JSON Schema, and words the first fault as file:line:column, key and remedy.

The validator is jsonschema, imported on use: an unchanged corpus file is never validated twice. A schema's `title` beside
a keyword is the sentence that a user reads when the keyword fails. Fills in nothing and changes nothing.
"""

from __future__ import annotations

from typing import Any

import bench.schemas as schemas
from bench.core import nearest
from bench.core.names import shown
from bench.core.yamlmap import Node, Position, place
from bench.errors import CorpusError

MISSING = "is missing"
SHARED = ("arms",)
"""Schemas that others refer to."""
KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}
_BOUNDS = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "minItems": "must have at least {} entries",
    "maxItems": "must have at most {} entries",
    "maxLength": "must have at most {} characters",
    "minProperties": "must have at least {} keys",
    "maxProperties": "must have at most {} keys",
}


def check(document: Node, name: str, path: str) -> None:
    """Raise CorpusError for the first fault, in the order of the file, of a document against the schema `name`."""
    import jsonschema
    import referencing
    from referencing.jsonschema import DRAFT202012

    shared = [(n + schemas.SUFFIX, DRAFT202012.create_resource(schemas.load(n))) for n in SHARED]
    registry: Any = referencing.Registry().with_resources(shared)
    validator = jsonschema.Draft202012Validator(schemas.load(name), registry=registry)
    faults = [_word(document, error) for error in validator.iter_errors(document.plain())]
    if not faults:
        return
    # A misspelt key is both unknown and missing: the word that stands there says more.
    at, key, what, remedy = min(faults, key=lambda fault: (fault[2].endswith(MISSING), fault))
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    raise CorpusError((f"{key}: " if key else "") + what + more, where=place(path, at), remedy=remedy)


Fault = tuple[Position, str, str, str]
"""Where, which key, what, remedy."""


def _word(document: Node, error: Any) -> Fault:
    parts = list(error.absolute_path)
    node, key, rule = document.find(parts), spell(parts), error.validator
    if rule == "additionalProperties" and isinstance(node.value, dict):
        return _unknown_key(node, key, error.schema)
    if rule == "required":
        missing = next(k for k in error.validator_value if k not in node.value and repr(k) in error.message)
        return node.at, key, f"the key {missing!r} {MISSING}", "add it"
    at = _at(document, parts)
    if rule == "type":
        return at, key, *_wrong_type(node, error.validator_value)
    if rule in ("enum", "const"):
        known = [str(v) for v in (error.validator_value if rule == "enum" else [error.validator_value]) if v is not None]
        return at, key, f"must not be {quoted(node)}", nearest.remedy(str(node.value), known)
    if rule in _BOUNDS:
        size = len(node.value) if isinstance(node.value, str | list | dict) else quoted(node)
        what = _BOUNDS[rule].format(error.validator_value).replace(" 1 entries", " one entry")
        return at, key, f"{what}, not {size}", ""
    if rule == "uniqueItems":
        return at, key, "has the same entry twice", "remove one"
    if rule == "dependentRequired":
        pairs = [
            f"{k!r} needs {v!r} beside it" for k, need in error.validator_value.items() for v in need if k in node.value
        ]
        return at, key, "; ".join(pairs) or "lacks a key", ""
    return at, key, *_titled(node, error.schema)


def _at(document: Node, parts: list[Any]) -> Position:
    if not parts or isinstance(parts[-1], int):
        return document.find(parts).at
    return document.find(parts[:-1]).key_at(parts[-1]) if document.find(parts).value is None else document.find(parts).at


def _unknown_key(node: Node, key: str, schema: Any) -> Fault:
    known = set(schema.get("properties", {}))
    unknown = min((k for k in node.value if k not in known), key=node.key_at)
    return (
        node.key_at(unknown),
        f"{key}{'.' if key else ''}{spell([unknown])}",
        "unknown key",
        nearest.remedy(unknown, known),
    )


def _titled(node: Node, rule: Any) -> tuple[str, str]:
    said = str(rule.get("title", "is not of the right form"))
    return said, "" if isinstance(node.value, dict | list) else f"it is {quoted(node)}"


def _wrong_type(node: Node, expected: Any) -> tuple[str, str]:
    kinds = [expected] if isinstance(expected, str) else list(expected)
    wanted = " or ".join(KINDS[k] for k in kinds if k != "null")
    quote = "string" in kinds and isinstance(node.value, bool | int | float)
    return f"must be {wanted}, not {quoted(node)}", "put it in quotes" if quote else ""


def quoted(node: Node) -> str:
    """A value as messages show it: short, on one line."""
    if node.value is None:
        return "null"
    if isinstance(node.value, bool):
        return "true" if node.value else "false"
    if isinstance(node.value, str):
        return shown(node.value)
    if isinstance(node.value, int | float):
        return repr(node.value)
    return "a list" if isinstance(node.value, list) else "a mapping"


def spell(parts: list[Any]) -> str:
    """`tasks[0].oracle.files`, as messages name a place in a document."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part if part.isprintable() else ascii(part)}"
    return text.removeprefix(".")
