"""What every store must do, whichever it is: run over the registry."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.core import digest
from bench.core.records import Blob, Record, sealed
from bench.effects.store import STORES, Store, open_store
from bench.errors import IntegrityError

KEY, OTHER = (f"b3:{digit * 64}" for digit in "12")


@pytest.fixture(params=sorted(STORES))
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def store(kind: str, tmp_path: Path) -> Store:
    return open_store(tmp_path, kind)


def record(key: str, outputs: dict[str, Blob]) -> Record:
    return sealed(Record("cell", "s/t/a/0", key, {}, {}, "final", None, outputs, {"resolved": True}))


def test_bytes_are_kept_under_their_digest_once_and_for_the_next_process(store: Store, kind: str, tmp_path: Path) -> None:
    assert list(store.blobs()) == []
    blob = store.put(b"evidence")
    assert blob == store.put(b"evidence") == Blob(digest.of_bytes(b"evidence"), 8)
    for reader in (store, open_store(tmp_path, kind)):
        assert (reader.get(blob.blob), reader.has(blob.blob), list(reader.blobs())) == (b"evidence", True, [blob.blob])


def test_absent_bytes_are_an_integrity_error_that_names_them(store: Store) -> None:
    assert not store.has(KEY)
    with pytest.raises(IntegrityError) as caught:
        store.get(KEY)
    assert caught.value.where == KEY


def test_what_is_set_aside_counts_as_absent_and_can_be_put_again(store: Store) -> None:
    blob = store.put(b"evidence")
    store.set_aside(blob.blob)
    assert not store.has(blob.blob)
    assert store.put(b"evidence") == blob
    assert store.get(blob.blob) == b"evidence"


def test_a_record_is_found_by_its_key_as_long_as_its_bytes_are_there(store: Store, kind: str, tmp_path: Path) -> None:
    blob = store.put(b"patch")
    made = record(KEY, {"patch": blob})
    assert (store.find(KEY), store.entry(KEY), list(store.keys())) == (None, None, [])
    store.put_record(made)
    for reader in (store, open_store(tmp_path, kind)):
        assert (reader.find(KEY), reader.entry(KEY), list(reader.keys())) == (made, made, [KEY])
    store.set_aside(blob.blob)
    assert (store.find(KEY), store.entry(KEY)) == (None, made)


def test_a_dropped_entry_is_given_back_and_gone(store: Store) -> None:
    first, second = record(KEY, {}), record(OTHER, {})
    store.put_record(first)
    store.put_record(second)
    assert store.drop_record(KEY) == first
    assert (store.find(KEY), store.drop_record(KEY), list(store.keys())) == (None, None, [OTHER])
