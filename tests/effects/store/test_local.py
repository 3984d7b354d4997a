"""The local store: bytes under their digests, records under their keys, nothing half there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.core import digest, records
from bench.core.records import Blob, Record, sealed
from bench.effects.store import STORES, Store, open_store
from bench.errors import IntegrityError

KEY = "b3:" + "1" * 64


@pytest.fixture(params=sorted(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return open_store(tmp_path / "store", request.param)


def record(store: Store, data: bytes = b"out", state: str = records.FINAL) -> Record:
    outputs = {"out": store.put(data)}
    return sealed(Record("cell", "s/t/a/0", KEY, {}, {}, state, None, outputs, {"x": 1}))


def blob_file(store: Store, name: str) -> Path:
    return store.root.joinpath("blobs", *digest.shard(name))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary())
def test_bytes_come_back_under_their_digest(store: Store, data: bytes):
    blob = store.put(data)
    assert (blob.blob, blob.bytes) == (digest.of_bytes(data), len(data))
    assert store.put(data) == blob
    assert store.get(blob.blob) == data
    assert store.has(blob.blob)
    assert blob.blob in store.blobs()


def test_files_are_read_only_and_alone(store: Store):
    blob = store.put(b"bytes")
    path = blob_file(store, blob.blob)
    assert path.stat().st_mode & 0o777 == 0o400
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_bytes_that_are_damaged_twice_are_both_kept(store: Store):
    for damage in (b"bytEs", b"Bytes"):
        blob = store.put(b"bytes")
        path = blob_file(store, blob.blob)
        path.chmod(0o600)
        path.write_bytes(damage)
        store.set_aside(blob.blob)
        assert not store.has(blob.blob)
    assert sorted(path.read_bytes() for path in (store.root / "damaged").iterdir()) == [b"Bytes", b"bytEs"]


def test_absent_and_damaged_bytes_are_named_by_their_digest_alone(store: Store, tmp_path: Path):
    blob = store.put(b"bytes")
    path = blob_file(store, blob.blob)
    path.chmod(0o600)
    path.write_bytes(b"bytEs")
    with pytest.raises(IntegrityError, match="damaged") as caught:
        store.get(blob.blob)
    assert caught.value.where == blob.blob
    path.unlink()
    with pytest.raises(IntegrityError, match="missing") as caught:
        store.get(blob.blob)
    assert caught.value.where == blob.blob
    assert str(tmp_path) not in str(caught.value)


def test_a_shorter_copy_is_written_anew(store: Store):
    blob = store.put(b"bytes")
    path = blob_file(store, blob.blob)
    path.chmod(0o600)
    path.write_bytes(b"by")
    store.put(b"bytes")
    assert store.get(blob.blob) == b"bytes"


def test_damaged_bytes_are_set_aside_and_made_again(store: Store):
    blob = store.put(b"bytes")
    path = blob_file(store, blob.blob)
    path.chmod(0o600)
    path.write_bytes(b"bytEs")
    store.set_aside(blob.blob)
    assert not store.has(blob.blob)
    assert blob.blob not in store.blobs()
    assert [p.read_bytes() for p in (store.root / "damaged").iterdir()] == [b"bytEs"]
    store.set_aside(blob.blob)
    assert store.put(b"bytes") == blob
    assert store.get(blob.blob) == b"bytes"


def test_a_record_is_found_by_its_key(store: Store):
    made = record(store)
    assert store.find(KEY) is None
    store.put_record(made)
    found = store.find(KEY)
    assert found is not None
    assert found.to_bytes() == made.to_bytes()
    assert list(store.keys()) == [KEY]
    newer = sealed(replace(made, body={"x": 2}))
    store.put_record(newer)
    again = store.find(KEY)
    assert again is not None
    assert again.seal == newer.seal


def test_an_entry_without_its_bytes_or_torn_or_of_another_key_is_no_evidence(store: Store):
    made = record(store)
    store.put_record(made)
    entry = store.root.joinpath("keys", *digest.shard(KEY))
    data = entry.read_bytes()
    entry.chmod(0o600)
    for wrong in (b"", data[:-5], data.replace(b'"x":1', b'"x":2'), sealed(replace(made, key="b3:" + "2" * 64)).to_bytes()):
        entry.write_bytes(wrong)
        assert store.find(KEY) is None
    entry.write_bytes(data)
    assert store.find(KEY) is not None
    blob_file(store, made.outputs["out"].blob).unlink()
    assert store.find(KEY) is None


def test_dropping_gives_back_what_was_there_and_keeps_the_bytes(store: Store):
    made = record(store)
    store.put_record(made)
    dropped = store.drop_record(KEY)
    assert dropped is not None
    assert dropped.seal == made.seal
    assert store.find(KEY) is None
    assert store.drop_record(KEY) is None
    assert store.has(made.outputs["out"].blob)


def test_foreign_files_are_not_listed(store: Store):
    blob = store.put(b"bytes")
    folder = blob_file(store, blob.blob).parent
    (folder / ".new-abc").write_bytes(b"half")
    (folder.parent / "stray").write_bytes(b"")
    assert list(store.blobs()) == [blob.blob]


def test_an_empty_store_lists_nothing(store: Store):
    assert list(store.blobs()) == []
    assert list(store.keys()) == []


def test_what_is_no_digest_has_no_place(store: Store):
    with pytest.raises(ValueError, match="not a digest"):
        store.get("../../etc/passwd")
    assert Blob("b3:" + "0" * 64, 0).blob not in store.blobs()
