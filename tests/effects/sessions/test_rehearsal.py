"""The scene of a rehearsal."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bench.core import review_artifact
from bench.effects import engines, store
from bench.effects.context import Context
from bench.effects.grading.artifacts import HandIn
from bench.effects.sessions import rehearsal


def test_a_scene_that_cannot_be_laid_out_leaves_no_layers(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"in the way")
    (tmp_path / "scratch").mkdir()
    kept = store.open_store(tmp_path / "store")
    context = Context(kept, tmp_path, tmp_path / "scratch", threading.Event(), lambda line: None)
    hand_in = HandIn(review_artifact.FOLDER, review_artifact.NAME, review_artifact.VARIABLE)
    with pytest.raises(NotADirectoryError):
        rehearsal.build(context, engines.create("loop"), hand_in)
    assert [path.name for path in (tmp_path / "scratch").iterdir()] == ["project"]
