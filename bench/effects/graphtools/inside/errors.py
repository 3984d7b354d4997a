"""The errors of the query module, as they are inside."""

from __future__ import annotations


class _Fault(Exception):
    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__("; ".join(part for part in (f"{where}: {what}" if where else what, remedy) if part))


class UsageError(_Fault):
    """A question that the graph cannot be asked."""


class IntegrityError(_Fault):
    """Not a graph."""
