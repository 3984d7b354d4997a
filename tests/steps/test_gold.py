"""The reference solution: a patch that applies, or the difference to a later release."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.effects.trees import Entry
from bench.errors import CorpusError, StepFailed
from bench.steps import gold
from tests.steps.grading_jobs import PATCH, Case
from tests.steps.making import job_of


def test_a_patch_is_kept_as_it_was_written(tmp_path: Path) -> None:
    case = Case(tmp_path)
    made = case.gold()
    assert case.context.store.get(made.outputs["patch"].blob) == PATCH.encode()
    assert made.body == {"files": 1, "insertions": 1, "deletions": 1}


@pytest.mark.parametrize("patch", [PATCH.replace("n + n + 1", "n * 2"), "not a patch at all\n"])
def test_a_patch_that_does_not_apply_is_refused(tmp_path: Path, patch: str) -> None:
    with pytest.raises(StepFailed, match="does not apply"):
        Case(tmp_path).gold(patch)


@pytest.mark.parametrize("patch", ["", "\n"])
def test_a_gold_that_changes_nothing_is_refused(tmp_path: Path, patch: str) -> None:
    with pytest.raises(StepFailed, match="changes nothing"):
        Case(tmp_path).gold(patch)


def test_neither_patch_nor_release_is_refused(tmp_path: Path) -> None:
    case = Case(tmp_path)
    with pytest.raises(CorpusError, match="neither"):
        gold.make(job_of("gold", case.context, {"exclude": []}, inputs={"template": case.template}), case.context)


def test_the_difference_to_a_release_leaves_out_what_it_must() -> None:
    before = [Entry(p, "100644", b"old") for p in ("m.py", "gone.py", "tests/t.py", "tests/old.py", ".hgtags", "idx/x")]
    after = [Entry(p, "100644", b"new") for p in ("m.py", "more.py", "tests/t.py", "tests/new.py", "PKG-INFO", "idx/x")]
    after += [Entry("run", "100755", b""), Entry("x/__pycache__/m.cpython-311.pyc", "100644", b"")]
    found = gold.difference(before, after, ["tests/*", "PKG-INFO", ".hg*"], ["idx/"])
    assert [(e.path, e.mode) for e in found.entries] == [("m.py", "100644"), ("more.py", "100644"), ("run", "100755")]
    assert found.deletions == ("gone.py",)
