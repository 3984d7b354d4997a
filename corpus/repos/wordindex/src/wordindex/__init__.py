"""An index of words over small documents."""

from wordindex.index import Index
from wordindex.query import search

__all__ = ["Index", "search"]
