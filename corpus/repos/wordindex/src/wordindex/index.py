"""Which document holds which word."""

from __future__ import annotations

from wordindex.text import words


class Index:
    """Documents by id."""

    def __init__(self) -> None:
        self.documents: dict[str, set[str]] = {}

    def add(self, name: str, text: str) -> None:
        """Add or replace a document."""
        self.documents[name] = set(words(text))

    def remove(self, name: str) -> None:
        """Remove a document. Raises KeyError when there is none."""
        del self.documents[name]

    def holding(self, word: str) -> set[str]:
        """Names of the documents that hold a word."""
        return {name for name, found in self.documents.items() if word in found}
