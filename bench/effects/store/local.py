"""A store in a local directory: blobs 0400 under their digests, one file per key. It deletes only what it is told to."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from bench.core import digest, records
from bench.core.records import Blob, Record
from bench.effects import files
from bench.errors import IntegrityError


class LocalStore:
    """`root/blobs/<aa>/<rest>` and `root/keys/<aa>/<rest>`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, blob: str) -> Path:
        """Where the bytes of a digest are kept."""
        return self.root.joinpath("blobs", *digest.shard(blob))

    def _entry(self, key: str) -> Path:
        return self.root.joinpath("keys", *digest.shard(key))

    def put(self, data: bytes) -> Blob:
        """Keep bytes; a damaged copy that is there is replaced."""
        name = digest.of_bytes(data)
        path = self.path(name)
        try:
            present = path.stat().st_size == len(data) and path.read_bytes() == data
        except OSError:
            present = False
        if not present:
            files.write_atomic(path, data, mode=0o400)
        return Blob(name, len(data))

    def get(self, blob: str) -> bytes:
        """Bytes, re-hashed."""
        path = self.path(blob)
        try:
            data = path.read_bytes()
        except OSError:
            raise IntegrityError("bytes are missing from the store", where=blob, remedy="doit rebuilds them") from None
        if digest.of_bytes(data) != blob:
            raise IntegrityError("bytes in the store are damaged", where=blob, remedy="doit rebuilds them")
        return data

    def has(self, blob: str) -> bool:
        """Presence only."""
        return self.path(blob).exists()

    def set_aside(self, blob: str) -> None:
        """To `root/damaged/`, where nothing looks for them."""
        path, target = self.path(blob), self.root / "damaged" / blob.removeprefix(digest.PREFIX)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():  # the same bytes were damaged before, perhaps otherwise
                target = target.with_name(f"{target.name}-{secrets.token_hex(4)}")
            path.replace(target)
        except FileNotFoundError:
            return
        except OSError as error:
            raise files.storage_fault(error, path) or error from error

    def blobs(self) -> Iterator[str]:
        """All digests, by listing directories (no file is opened)."""
        yield from _listed(self.root / "blobs")

    def put_record(self, record: Record) -> None:
        """The record's bytes are the entry."""
        files.write_atomic(self._entry(record.key), record.to_bytes(), mode=0o400)

    def entry(self, key: str) -> Record | None:
        """The entry, if it is a record of this key."""
        try:
            record = records.parse(self._entry(key).read_bytes(), key)
        except (OSError, IntegrityError):
            return None
        return record if record.key == key else None

    def find(self, key: str) -> Record | None:
        """The entry, if it and all its blobs are there."""
        record = self.entry(key)
        whole = record is not None and all(self.has(blob.blob) for blob in record.outputs.values())
        return record if whole else None

    def drop_record(self, key: str) -> Record | None:
        """Forget a key; blobs stay."""
        record = self.entry(key)
        self._entry(key).unlink(missing_ok=True)
        return record

    def keys(self) -> Iterator[str]:
        """All keys present."""
        yield from _listed(self.root / "keys")


def _listed(folder: Path) -> Iterator[str]:
    home = str(folder)
    for aa in _names(home):
        for rest in _names(f"{home}/{aa}"):
            name = f"{digest.PREFIX}{aa}{rest}"
            if digest.is_digest(name):
                yield name


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as items:
            return sorted(item.name for item in items)
    except (FileNotFoundError, NotADirectoryError):
        return []
