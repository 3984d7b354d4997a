"""What every kind of source must do, whichever it is: run over the registry, with a real directory, repository and index."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.core import relpath
from bench.effects import sources, trees
from bench.effects.sources import Fetched
from bench.errors import CorpusError, SourceError
from tests.effects.indexserver import sdist, serve
from tests.effects.sources.repositories import commit, init

FILES = {"a.py": "A = 1\n", "pkg/b.py": "B = 2\n", "pkg/ü.txt": "text\r\n"}
Publish = Callable[[Path, Mapping[str, str], str], dict[str, Any]]
"""(an empty folder, files, version) → the `source:` mapping of a task, as a suite states it."""


def _directory(home: Path, files: Mapping[str, str], version: str) -> dict[str, Any]:
    for path, text in files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(text.encode())
    return {"dir": str(home)}


def _repository(home: Path, files: Mapping[str, str], version: str) -> dict[str, Any]:
    commit(init(home / "repo"), dict(files))
    return {"git": str(home / "repo"), "ref": "HEAD"}


@pytest.fixture
def publish(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publish]:
    """How files come to be a source of the kind under test; a new kind says so here."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    with serve() as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        index.files["demo"] = {}

        def release(home: Path, files: Mapping[str, str], version: str) -> dict[str, Any]:
            index.files["demo"][f"demo-{version}.tar.gz"] = sdist(
                f"demo-{version}", {p: t.encode() for p, t in files.items()}
            )
            return {"sdist": f"demo=={version}"}

        yield {"dir": _directory, "git": _repository, "sdist": release}[request.param]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A kind, and how it is published, go together."""
    names = sorted(sources.SOURCES)
    metafunc.parametrize(("kind", "publish"), [(name, name) for name in names], indirect=["publish"], ids=names)


class Place:
    """A workspace, and the folder in which sources are published."""

    def __init__(self, root: Path, kind: str, publish: Publish) -> None:
        self.root, self._kind, self._publish = root, kind, publish

    def published(self, name: str, files: Mapping[str, str]) -> dict[str, Any]:
        """The pinned source, as the lock has it."""
        (self.root / name).mkdir(parents=True)
        said = self._publish(self.root / name, files, f"1.{len(name)}")
        return said | sources.create(self._kind).resolve(said, self.root)

    def fetched(self, spec: Mapping[str, Any], scratch: str = "scratch") -> Fetched:
        """What it gives."""
        (self.root / scratch).mkdir()
        return sources.create(self._kind).fetch(spec, self.root, self.root / scratch, threading.Event())


@pytest.fixture
def place(tmp_path: Path, kind: str, publish: Publish) -> Place:
    return Place(tmp_path, kind, publish)


def test_it_gives_the_files_byte_for_byte_in_order_under_relative_paths(place: Place) -> None:
    entries = place.fetched(place.published("one", FILES)).entries
    assert {entry.path: entry.data.decode() for entry in entries} == FILES
    assert [entry.path for entry in entries] == sorted(FILES)
    assert {entry.mode for entry in entries} <= {"100644", "100755", "120000"}
    assert not [entry.path for entry in entries if relpath.fault(entry.path)]


def test_fetched_twice_it_is_the_same_and_fetching_changes_nothing(place: Place) -> None:
    spec = place.published("one", FILES)
    before = trees.tree_digest(trees.read(place.root / "one"))
    first, second = place.fetched(spec), place.fetched(spec, "elsewhere")
    assert first == second
    assert first.revision
    assert trees.tree_digest(trees.read(place.root / "one")) == before


def test_another_content_is_another_revision(place: Place) -> None:
    one = place.fetched(place.published("one", FILES))
    other = place.fetched(place.published("another", FILES | {"a.py": "A = 2\n"}), "elsewhere")
    assert one.revision != other.revision


def test_what_is_pinned_is_plain_and_pinned_to_the_same_again(place: Place, kind: str) -> None:
    spec = place.published("one", FILES)
    pins = sources.create(kind).resolve(spec, place.root)
    assert json.loads(json.dumps(pins)) == pins
    assert spec | pins == spec


def test_a_source_that_is_not_there_is_refused(place: Place) -> None:
    spec = place.published("one", FILES)
    gone = {key: value.replace("one", "none").replace("demo", "unheard-of") for key, value in spec.items()}
    gone |= {key: "0" * len(value) for key, value in spec.items() if key in ("commit", "sha256")}
    with pytest.raises((SourceError, CorpusError)):
        place.fetched(gone)
