"""Files of the corpus are held against their schemas once per content, and again when a schema changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.errors import CorpusError
from bench.make.corpus import VALID, load_lock, load_prices, load_suites
from bench.make.workspace import Workspace
from tests.make import workspaces

LOCK = '{"schema": 1, "sources": {}, "dependencies": {}}'
PRICES = '{"schema": 1, "source": "made up", "date": "2026-01-31", "models": {}}'


def test_what_passed_is_remembered_for_suites_locks_and_prices(tmp_path: Path) -> None:
    workspaces.tiny(tmp_path)
    workspaces.put(tmp_path, "corpus/tiny.lock.json", LOCK)
    workspaces.put(tmp_path, "corpus/prices.json", PRICES)
    workspace = Workspace(tmp_path)
    for _ in range(2):
        assert list(load_suites(workspace)) == ["tiny"]
        assert load_lock(workspace, "tiny").requirements([]) == ()
        assert load_prices(workspace) == {}
        assert sorted(workspace.index.rows[VALID]) == ["corpus/prices.json", "corpus/tiny.lock.json", "corpus/tiny.yaml"]


def test_what_passed_another_schema_is_checked_again(tmp_path: Path) -> None:
    workspaces.write(tmp_path, runz=3)
    workspace = Workspace(tmp_path)
    path = "corpus/tiny.yaml"
    workspace.index.rows[VALID] = {path: workspace.index.file_digest(path) + "of an earlier schema"}
    with pytest.raises(CorpusError, match="did you mean 'runs'"):
        load_suites(workspace)
