"""The price table: list prices of models in US dollars per million tokens, with their source and date.

Prices only what it lists: an unknown model has no price, which is not a price of 0. Reads no file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bench.core import schema, yamlmap
from bench.core.yamlmap import Node

KINDS = ("input", "cache_creation", "cache_read", "output")
"""Columns of a row, and what `bench.core.cost` charges the four usage fields at."""
MOST = 1_000_000
PREFIXES = ("anthropic/", "openai/")
"""Providers whose own ids may be written without the prefix that LiteLLM knows them by."""
_TOP = {"schema", "source", "date", "models"}

Table = Mapping[str, Mapping[str, float]]
"""Model id → {input, cache_creation, cache_read, output}."""


def parse(text: str, path: str) -> Table:
    """Read a price table. Raises CorpusError with `path:line:column`."""
    document = yamlmap.load(text, path)
    if not _well_formed(document):
        schema.check(document, "prices", path)
    models = document.value["models"].value
    return {model: {kind: row.value[kind].value for kind in KINDS} for model, row in models.items()}


def row(table: Table, model: str | None) -> dict[str, float] | None:
    """The prices of a model by its id, with or without its provider's prefix; None = unknown."""
    if model is None:
        return None
    for name in (model, *(prefix + model for prefix in PREFIXES)):
        if name in table:
            return dict(table[name])
    return None


def _well_formed(document: Node) -> bool:
    """A plain yes for the usual table, so that jsonschema is loaded only to word a fault, or for a rarer form."""
    top = document.value
    if not isinstance(top, dict) or not _TOP <= set(top) <= _TOP | {"note"}:
        return False
    texts = [top[key].value for key in ("source", "note") if key in top]
    if top["schema"].value is True or top["schema"].value != 1 or not all(isinstance(t, str) and t.strip() for t in texts):
        return False
    return (
        _is_date(top["date"].value)
        and isinstance(top["models"].value, dict)
        and all(map(_is_row, top["models"].value.values()))
    )


def _is_date(value: Any) -> bool:
    parts = value.split("-") if isinstance(value, str) and value.isascii() else []
    return [len(part) for part in parts] == [4, 2, 2] and all(part.isdigit() for part in parts)


def _is_row(node: Node) -> bool:
    return isinstance(node.value, dict) and set(node.value) == set(KINDS) and all(map(_is_price, node.value.values()))


def _is_price(node: Node) -> bool:
    value = node.value
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= MOST
