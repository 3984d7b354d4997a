"""Pinned distributions: from a lock entry to its normal tree, by the cheapest way that gives exactly the pinned digest.

In order: the store, an installation in this environment, the registry. Each way's result is digested and compared with
the lock, so that none of them has to be trusted; nothing is ever built from a source distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.core import digest, records
from bench.core.records import Record
from bench.effects import registry, trees, wheels
from bench.effects.store import Store
from bench.effects.trees import Entry
from bench.errors import CorpusError, IntegrityError

FIELDS = ("name", "version", "filename", "sha256", "tree")
PROTOCOL = 1
"""Of the normal form: part of the key under which the store keeps a tree."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A lock entry: `sha256` (hex) of the wheel `filename`, `tree` (`b3:…`) of its normal form."""

    name: str
    version: str
    filename: str
    sha256: str
    tree: str

    def to_json(self) -> dict[str, str]:
        """The entry as it stands in a lock."""
        return {field: getattr(self, field) for field in FIELDS}

    @property
    def shown(self) -> str:
        """`name==version`."""
        return f"{self.name}=={self.version}"


def pinned(raw: Any) -> Pinned:
    """Read a lock entry. Raises CorpusError naming the field that is wrong."""
    if not isinstance(raw, Mapping) or set(raw) != set(FIELDS):
        raise CorpusError(f"a lock entry holds exactly {', '.join(FIELDS)}", where=_named(raw), remedy="run doit relock")
    for field in FIELDS:
        if not isinstance(raw[field], str) or not raw[field]:
            raise CorpusError(f"{field} is not a text", where=_named(raw), remedy="run doit relock")
    if len(raw["sha256"]) != 64 or set(raw["sha256"]) - set("0123456789abcdef"):
        raise CorpusError("sha256 is not 64 hexadecimal digits", where=_named(raw), remedy="run doit relock")
    if not digest.is_digest(raw["tree"]):
        raise CorpusError("tree is not a digest", where=_named(raw), remedy="run doit relock")
    return Pinned(**raw)


def _named(raw: Any) -> str:
    name = raw.get("name") if isinstance(raw, Mapping) else None
    return f"dependency {name}" if isinstance(name, str) else "dependency"


def obtain(store: Store, item: Pinned, *, log: Callable[[str], None] = lambda line: None) -> list[Entry]:
    """The normal tree of a pinned distribution, kept in the store from now on.

    Raises IntegrityError when the wheel's tree is not the pinned one, and what the registry raises when it has no such file.
    """
    kept = _kept(store, item)
    if kept is not None:
        log(f"{item.shown}: from the store")
        return kept
    entries = wheels.installed(item.name, item.version)
    if entries is not None and trees.tree_digest(entries) == item.tree:
        log(f"{item.shown}: from this environment")
    else:
        entries = wheels.unpack(fetch(store, item.name, item.version, item.filename, item.sha256), item.filename)
        log(f"{item.shown}: from the registry")
    if trees.tree_digest(entries) != item.tree:
        raise IntegrityError(
            "the wheel's tree is not the one in the lock", where=item.shown, remedy="run doit relock and review the change"
        )
    keep(store, item, entries)
    return entries


def fetch(store: Store, name: str, version: str, filename: str, sha256: str) -> bytes:
    """A wheel's bytes from the registry, their sha256 checked there."""
    return registry.fetch_file(store, name, version, sha256=sha256, kind="wheel", filename=filename)


def keep(store: Store, item: Pinned, entries: list[Entry]) -> None:
    """Keep a normal tree in the store, to be found again by its digest."""
    blob = store.put(trees.pack(entries))
    store.put_record(
        records.sealed(
            Record(
                kind="distribution",
                name=item.shown,
                key=_key(item.tree),
                inputs={},
                params={"tree": item.tree},
                state=records.FINAL,
                reason=None,
                outputs={"tree": blob},
                body={"tree": item.tree},
            )
        )
    )


def _key(tree: str) -> str:
    return digest.of(f"assay/distribution/{PROTOCOL}", {"tree": tree})


def _kept(store: Store, item: Pinned) -> list[Entry] | None:
    record = store.find(_key(item.tree))
    if record is None:
        return None
    try:
        entries = trees.entries_of(store.get(record.outputs["tree"].blob))
    except (IntegrityError, KeyError):
        return None  # damaged: made again below, `doit verify` is what reports it
    return entries if trees.tree_digest(entries) == item.tree else None
