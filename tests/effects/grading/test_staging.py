"""The graded view is made from the store and leaves nothing behind; failures of ours are raised by name."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bench.core import records
from bench.core.records import Record
from bench.effects import trees
from bench.effects.context import Made
from bench.effects.grading import programs, staging, verifiers
from bench.effects.grading.programs import Program
from bench.effects.sandbox import WORKSPACE
from bench.effects.trees import Entry
from bench.errors import BenchError, Cancelled, StepFailed
from tests.steps.grading_jobs import Case, changed, record


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def staged(case: Case, assets: Record | None = None) -> staging.Stage:
    return staging.stage(case.context.store, case.template, assets, scratch=case.context.scratch, cancel=case.context.cancel)


def seen(case: Case, command: str, *, remove: tuple[str, ...] = (), assets: Record | None = None) -> bytes:
    with staging.view(staged(case, assets), changed({"new.txt": "new\n"}, ("check.py",)), remove=remove) as view:
        return verifiers.visible(view, command, seconds=30, cancel=case.context.cancel).stdout


def test_a_view_is_the_template_with_the_changes_and_is_gone_afterwards(case: Case) -> None:
    assert seen(case, "find . -type f -not -path './.git/*' | sort; git status --short") == (
        b"./new.txt\n./src/calc.py\n D check.py\n?? new.txt\n"
    )
    assert not list(case.context.scratch.iterdir())


def test_what_is_removed_is_not_there(case: Case) -> None:
    assert seen(case, "find . -type f -not -path './.git/*'", remove=("new.txt",)) == b"./src/calc.py\n"


def test_mounted_trees_stand_in_the_workspace_read_only(case: Case) -> None:
    tree = case.context.store.put(trees.pack([Entry("dep/index.js", "100644", b"x\n")]))
    outputs = {"tree": case.assets.outputs["tree"], "mount/web/node_modules": tree}
    assets = record("assets", Made({}, outputs))
    command = "cat web/node_modules/dep/index.js; touch web/node_modules/no 2>/dev/null || echo read-only"
    assert seen(case, command, assets=assets) == b"x\nread-only\n"


def test_added_paths_are_those_that_the_template_lacks(case: Case) -> None:
    value = changed({"src/calc.py": "", "src/more.py": "", "check.py/now/a/folder": ""})
    assert staged(case).added(value) == ["check.py/now/a/folder", "src/more.py"]


def test_an_oracle_comes_from_its_record_with_its_bytes(case: Case) -> None:
    hidden = staging.hidden(case.context.store, case.oracle, {"BENCH_ORACLE_ROOT": "X"})
    assert (hidden.pytest, hidden.paths, hidden.pythonpath) == (True, ("test_hidden.py",), ("src",))
    assert set(hidden.files) == {"test_hidden.py"}


def test_a_damaged_template_is_told_and_not_graded(case: Case) -> None:
    broken = records.sealed(Record("template", "t", "k", {}, {}, "final", None, case.template.outputs, {"commit": "0" * 40}))
    with pytest.raises(BenchError, match="commit"):
        staging.stage(case.context.store, broken, None, scratch=case.context.scratch, cancel=case.context.cancel)


def test_a_program_of_ours_that_fails_says_so(case: Case) -> None:
    with pytest.raises(StepFailed, match="rebuild did not end well"):
        programs.run(Program("rebuild", [WORKSPACE], stdin=b"not a tar"), case.context.cancel)


def test_a_cancelled_program_is_ours_to_raise(case: Case) -> None:
    case.context.cancel.set()
    with pytest.raises(Cancelled):
        programs.run(Program("gitwork", ["diff", "/template", "0" * 40, "1"]), case.context.cancel)


def test_a_staged_oracle_that_changed_under_way_is_no_verdict(case: Case, tmp_path: Path) -> None:
    """Somebody swept the scratch directory: the tests that ran were not the sealed ones."""
    command = verifiers.Hidden({"c.sh": b"sleep 2\n"}, command='sh "$BENCH_ORACLE_ROOT/c.sh"')
    sweep = verifiers.Hidden({"c.sh": b"true\n"}, command="true")
    with staging.view(staged(case), changed({})) as view:
        assert verifiers.hidden(view, sweep, seconds=30, scratch=tmp_path, cancel=case.context.cancel).exit == 0

        def delete() -> None:
            while not (found := list(tmp_path.glob("oracle-*/c.sh"))):
                pass
            found[0].unlink()

        thread = threading.Thread(target=delete)
        thread.start()
        with pytest.raises(StepFailed, match="staged oracle file"):
            verifiers.hidden(view, command, seconds=30, scratch=tmp_path, cancel=case.context.cancel)
        thread.join()
