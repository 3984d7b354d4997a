"""The exit code and the last words of a run: what was asked for and is not there is told, and is 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.make import workspaces
from tests.make.workspaces import ARMS, Bench


def arms(bench: Bench, *more: dict[str, str], **changes: object) -> None:
    said = json.loads(bench.path("corpus/tiny.yaml").read_text()) | {"arms": [*ARMS, *more]} | changes
    bench.path("corpus/tiny.yaml").write_text(json.dumps(said))


def test_all_well_is_0_with_the_arms_side_by_side_and_the_reports_paths(workspace: Bench):
    done = workspace.doit("-n", "1")
    assert done.code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "14 up to date; spent $0.00"
    assert any(line.startswith("gold ") for line in lines)
    assert lines[-1].startswith("report: artifacts/reports/tiny/index.html")


def test_a_suite_that_needs_a_model_and_names_none_is_exit_2(workspace: Bench):
    arms(workspace, {"name": "agent", "role": "comparator", "engine": "loop"})
    for words in ((), ("cell:tiny/add/nop/0",), ("cell",)):
        done = workspace.doit(*words)
        assert done.code == 2, words
        assert "names none" in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", [("suite:tiny",), ("cell:tiny/*",)])
def test_a_failing_setup_is_told(workspace: Bench, words: tuple[str, ...]):
    """Calibration arms decide no exit code of a suite; a step that was asked for by name does."""
    workspace.edit("corpus/tiny.yaml", '"verify"', '"setup": "exit 9", "verify"')
    done = workspace.doit(*words)
    assert done.code == (1 if words[0].startswith("cell") else 0), done.stdout + done.stderr
    both = (done.stdout + done.stderr).splitlines()
    assert len([line for line in both if "session:tiny/add/nop/0" in line and "setup-failed: exit status 9" in line]) == 1
    if done.code:
        assert "error: cell:tiny/add/nop/0 is unusable" in done.stderr


def test_many_failures_are_counted_after_the_first_ten(tmp_path: Path):
    bench = Bench(workspaces.many(tmp_path / "ws", arms=12))
    bench.edit("corpus/tiny.yaml", '"verify"', '"setup": "exit 9", "verify"')
    done = bench.doit("cell:tiny/*")
    assert done.code == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 11
    assert lines[-1] == "error: and 2 more"
