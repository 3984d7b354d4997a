"""The price table: list prices of models in US dollars per million tokens, with their source and date.

Prices only what it lists: an unknown model has no price, which is not a price of 0. Reads no file.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench.core import schema, yamlmap

KINDS = ("input", "cache_creation", "cache_read", "output")
"""Columns of a row, and what `bench.core.cost` charges the four usage fields at."""
FILE = "prices.json"
"""Name of the table, below corpus/."""
PREFIXES = ("anthropic/", "openai/")
"""Providers whose own ids may be written without the prefix that LiteLLM knows them by."""

Table = Mapping[str, Mapping[str, float]]
"""Model id → {input, cache_creation, cache_read, output}."""


def parse(text: str, path: str, *, validated: bool = False) -> Table:
    """Read a price table; `validated`: this text has passed its schema. Raises CorpusError with `path:line:column`."""
    document = yamlmap.load(text, path)
    if not validated:
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
