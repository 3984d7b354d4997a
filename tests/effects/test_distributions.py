from __future__ import annotations

import hashlib
import importlib.metadata
from dataclasses import replace
from pathlib import Path

import pytest

from bench.core import records
from bench.core.records import Record
from bench.effects import distributions, registry, trees, wheels
from bench.effects.distributions import Pinned
from bench.effects.store.local import LocalStore
from bench.errors import BenchError, CorpusError, IntegrityError
from tests.effects.wheelmaking import filename, lock, wheel

NOWHERE = "0" * 64


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def present(name: str) -> Pinned:
    """A lock entry of a distribution of this environment whose wheel can be had nowhere."""
    version = importlib.metadata.version(name)
    entries = wheels.installed(name, version)
    assert entries is not None
    return Pinned(name, version, filename(name, version), NOWHERE, trees.tree_digest(entries))


def test_an_installed_distribution_of_the_pinned_digest_needs_no_registry(store: LocalStore) -> None:
    said: list[str] = []
    item = present("iniconfig")
    entries = distributions.obtain(store, item, log=said.append)
    assert trees.tree_digest(entries) == item.tree
    assert said == [f"{item.shown}: from this environment"]


def test_a_kept_tree_is_found_again_by_its_digest(store: LocalStore) -> None:
    data = wheel("odds", "1.0", {"odds.py": b"ODD = 1\n"})
    item = lock("odds", "1.0", data)
    distributions.keep(store, item, wheels.unpack(data, item.filename))
    said: list[str] = []
    assert distributions.obtain(store, replace(item, sha256=NOWHERE), log=said.append) == wheels.unpack(data, item.filename)
    assert said == ["odds==1.0: from the store"]


def test_a_damaged_tree_in_the_store_is_made_again(store: LocalStore) -> None:
    item = present("pluggy")
    distributions.obtain(store, item)
    for blob in list(store.blobs()):
        store.path(blob).chmod(0o600)
        store.path(blob).write_bytes(b"torn")
    assert trees.tree_digest(distributions.obtain(store, item)) == item.tree


def test_an_installation_that_differs_is_not_used(store: LocalStore) -> None:
    """The lock says what the wheel holds; an edited environment must not get into evidence."""
    item = replace(present("iniconfig"), tree="b3:" + "1" * 64, filename="none")
    data = wheel("iniconfig", item.version, {"iniconfig.py": b""})
    registry_holds(store, data, item := replace(item, sha256=sha256(data), filename=filename("iniconfig", item.version)))
    with pytest.raises(IntegrityError, match="not the one in the lock"):
        distributions.obtain(store, item)
    item = replace(item, tree=trees.tree_digest(wheels.unpack(data, item.filename)))
    assert trees.tree_digest(distributions.obtain(store, item)) == item.tree


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def registry_holds(store: LocalStore, data: bytes, item: Pinned) -> None:
    """Enter a wheel where the registry keeps what it once downloaded."""
    entry = Record(
        kind="download",
        name=item.sha256,
        key=registry.key(item.sha256),
        inputs={},
        params={},
        state=records.FINAL,
        reason=None,
        outputs={"file": store.put(data)},
        body={},
    )
    store.put_record(records.sealed(entry))


def test_a_downloaded_wheel_is_unpacked_and_kept(store: LocalStore) -> None:
    data = wheel("odds", "1.0", {"odds.py": b"ODD = 1\n"})
    item = lock("odds", "1.0", data)
    registry_holds(store, data, item)
    said: list[str] = []
    first = distributions.obtain(store, item, log=said.append)
    again = distributions.obtain(store, item, log=said.append)
    assert first == again == wheels.unpack(data, item.filename)
    assert said == ["odds==1.0: from the registry", "odds==1.0: from the store"]


GOOD = Pinned("odds", "1.0", filename("odds", "1.0"), NOWHERE, "b3:" + "1" * 64).to_json()


def test_a_lock_entry_is_read_back() -> None:
    assert distributions.pinned(GOOD).to_json() == GOOD


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": ""}, "name is not a text"),
        ({"version": 1}, "version is not a text"),
        ({"sha256": "ABC"}, "sha256 is not 64"),
        ({"sha256": "G" * 64}, "sha256 is not 64"),
        ({"tree": "b3:1"}, "tree is not a digest"),
        ({"extra": "x"}, "holds exactly"),
    ],
)
def test_a_wrong_lock_entry_is_named(change: dict[str, object], why: str) -> None:
    with pytest.raises(CorpusError, match=why) as refused:
        distributions.pinned(GOOD | change)
    assert refused.value.remedy == "run doit relock"


@pytest.mark.parametrize("raw", [None, [], "odds", {"name": "odds"}])
def test_what_is_no_lock_entry_is_refused(raw: object) -> None:
    with pytest.raises(CorpusError):
        distributions.pinned(raw)


@pytest.mark.network
def test_no_such_wheel_anywhere_is_an_error_of_ours(store: LocalStore) -> None:
    item = Pinned(
        "no-such-distribution-here", "1.0", filename("no_such_distribution_here", "1.0"), NOWHERE, "b3:" + "1" * 64
    )
    with pytest.raises(BenchError):
        distributions.obtain(store, item)
