"""Queries over an index."""

from __future__ import annotations

from wordindex.index import Index
from wordindex.text import words


def search(index: Index, query: str) -> list[str]:
    """Names of the documents that hold every word of the query, sorted; nothing for an empty query."""
    wanted = words(query)
    if not wanted:
        return []
    return sorted(set.intersection(*(index.holding(word) for word in wanted)))
