"""The store of evidence behind one small interface. `local` is the only entry; S3 or a shared disk would be others."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from bench.core.records import Blob, Record

STORES = {"local": "bench.effects.store.local:LocalStore"}
"""Short name → dotted path, imported when used."""


class Store(Protocol):
    """Blobs under their digests, records under their keys. Everything written is whole or absent."""

    root: Path

    def put(self, data: bytes) -> Blob:
        """Keep bytes; the same bytes twice are one blob. Raises StorageRefused."""
        ...

    def get(self, blob: str) -> bytes:
        """The bytes of a digest, re-hashed. Raises IntegrityError, with the digest as `where`, when damaged or absent."""
        ...

    def has(self, blob: str) -> bool:
        """Whether the bytes are present (not whether they are intact)."""
        ...

    def set_aside(self, blob: str) -> None:
        """Take damaged bytes out of use, so that they count as absent and are made again. Nothing is deleted."""
        ...

    def blobs(self) -> Iterator[str]:
        """The digests of all blobs present."""
        ...

    def put_record(self, record: Record) -> None:
        """Enter a record under its key: the authority for what that key yields."""
        ...

    def find(self, key: str) -> Record | None:
        """The record of a key, or None when there is none, it is damaged, or one of its blobs is absent."""
        ...

    def entry(self, key: str) -> Record | None:
        """What `find` gives, though bytes that it names may be absent."""
        ...

    def drop_record(self, key: str) -> Record | None:
        """Take a key's entry out (revocation, replacement) and return what it held."""
        ...

    def keys(self) -> Iterator[str]:
        """All keys that have an entry."""
        ...


def pinned(store: Store, named: Sequence[str] | None) -> Record | None:
    """The record of a [key, content] pair, if the store still holds just that one."""
    record = store.find(named[0]) if named else None
    return record if record and named and record.content == named[1] else None


def open_store(root: Path, kind: str = "local") -> Store:
    """The store at `root`."""
    module, name = STORES[kind].split(":")
    store: Store = getattr(importlib.import_module(module), name)(root)
    return store
