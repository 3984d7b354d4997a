from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from bench.core import digest
from bench.effects import distributions, interpreter, resolve, trees, wheels
from bench.effects.store.local import LocalStore
from bench.errors import BenchError, CorpusError, UsageError

RUNNER = ("iniconfig", "packaging", "pluggy", "pygments", "pytest")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def test_nothing_required_is_an_empty_lock(store: LocalStore) -> None:
    assert resolve.resolve([], interpreter.minor(), store) == []


def test_another_python_is_refused(store: LocalStore) -> None:
    with pytest.raises(UsageError, match=r"cannot resolve for Python 2\.7"):
        resolve.resolve(["pytest"], "2.7", store)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pytest ==",
        "-r requirements.txt",
        "--index-url=http://x",
        "./local",
        "pytest @ file:///x",
        "a @ https://x.y/a.whl",
    ],
)
def test_what_is_no_plain_requirement_is_refused_before_pip_sees_it(store: LocalStore, text: str) -> None:
    with pytest.raises(CorpusError) as refused:
        resolve.resolve(["pytest", text], interpreter.minor(), store)
    assert text in refused.value.where


@pytest.mark.network
@pytest.mark.slow
def test_the_runner_is_locked_and_its_installation_has_the_digests_of_its_wheels(store: LocalStore) -> None:
    """The demo works offline, after installation, only if this holds for the runner's distributions."""
    here = {name: importlib.metadata.version(name) for name in RUNNER}
    lock = resolve.resolve([f"{name}=={here[name]}" for name in reversed(RUNNER)], interpreter.minor(), store)
    assert [item["name"] for item in lock] == list(RUNNER)
    assert [item["version"] for item in lock] == list(here.values())
    for item in lock:
        pinned = distributions.pinned(item)
        assert digest.is_digest(pinned.tree)
        assert "/" not in pinned.filename
        entries = wheels.installed(pinned.name, pinned.version)
        assert entries is not None
        assert trees.tree_digest(entries) == pinned.tree, pinned.shown


@pytest.mark.network
@pytest.mark.slow
def test_what_has_no_wheel_or_no_such_version_is_refused(store: LocalStore) -> None:
    with pytest.raises(CorpusError, match="pip cannot meet"):
        resolve.resolve(["pytest==0.0.0.1"], interpreter.minor(), store)
    with pytest.raises(BenchError):
        resolve.resolve(["pytest<7,>8"], interpreter.minor(), store)
