"""`doit` on a small workspace, for real: what runs, what does not, and what it says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.make import workspaces
from tests.make.workspaces import ARMS, Bench

CELLS = {"cell:tiny/add/nop/0", "cell:tiny/add/gold/0"}
AFTER_CELLS = {"aggregate:tiny/add", "aggregate:tiny", "health:tiny", "report:tiny"}


def test_the_first_run_makes_everything_and_tells_it(built: Callable[[str], Path]):
    bench = Bench(built("tiny"))
    rows = [json.loads(line) for line in bench.path("artifacts/reports/tiny/results.jsonl").read_text().splitlines()]
    assert {row["arm"]: row["resolved"] for row in rows} == {"nop": False, "gold": True}
    for name in ("report.md", "index.html"):
        assert bench.path(f"artifacts/reports/tiny/{name}").stat().st_size > 500
    assert len(bench.records()) == 14


def test_a_second_run_is_answered_from_the_stamp_and_the_full_check_finds_nothing_either(workspace: Bench):
    # The copy has other inodes: nothing is believed by its stat, everything by its seal.
    first = workspace.doit()
    assert (first.code, first.did) == (0, {})
    assert "14 up to date" in first.stdout
    before = workspace.records()
    stamped = workspace.doit()
    assert (stamped.code, stamped.stderr) == (0, "")
    assert stamped.stdout.startswith("everything up to date (14 steps)\n")
    full = workspace.doit("cell", "suite:tiny", "-n", "1")
    assert (full.code, full.did) == (0, {})
    assert "14 up to date" in full.stdout
    assert workspace.records() == before


def test_a_touched_file_is_no_changed_file(workspace: Bench):
    for path in ("corpus/repos/adder/adder.sh", "oracles/add/check.sh", "corpus/tiny.yaml"):
        workspace.path(path).touch()
    assert workspace.moving() == {}


@pytest.mark.parametrize(
    ("path", "old", "new", "moved"),
    [
        pytest.param("corpus/tiny.yaml", '"suite"', '"outcome": 1, "suite"', None, id="unknown-key"),
        pytest.param("corpus/tiny.yaml", '"prompt": "Mend', '"prompt": "Please mend', set(), id="prompt-of-no-agent"),
        pytest.param("corpus/tiny.yaml", '"class": "trivial"', '"class": "hard"', AFTER_CELLS, id="class"),
        pytest.param("corpus/tiny.yaml", "test -f adder.sh", "test -e adder.sh", CELLS | AFTER_CELLS, id="verify"),
        pytest.param(
            "oracles/add/check.sh", "= 5", "-eq 5", {"oracle:add", "expected:add"} | CELLS | AFTER_CELLS, id="oracle"
        ),
    ],
)
def test_what_an_edit_moves(workspace: Bench, path: str, old: str, new: str, moved: set[str] | None):
    workspace.edit(path, old, new)
    if moved is None:
        assert workspace.doit("plan").code == 2
    else:
        assert set(workspace.moving()) == moved


def test_a_changed_oracle_grades_again_and_runs_no_session(workspace: Bench):
    sessions = {path: data for path, data in workspace.records().items() if "/sessions/" in path}
    workspace.edit("oracles/add/check.sh", "= 5", "= 6")
    done = workspace.doit()
    assert done.code == 0
    assert "broken" in done.stdout + workspace.path("artifacts/reports/tiny/report.md").read_text()
    assert not [step for step, did in done.did.items() if did == "measured"]
    assert workspace.record("artifacts/cells/tiny/add/gold/0.json")["body"]["resolved"] is False
    assert {path: data for path, data in workspace.records().items() if "/sessions/" in path} == sessions
    workspace.edit("oracles/add/check.sh", "= 6", "= 5")
    back = workspace.doit()
    assert back.code == 0
    assert set(back.did.values()) == {"restored"}, "what was known before is known again"


def test_an_edited_comment_and_a_changed_order_move_nothing(workspace: Bench):
    suite = json.loads(workspace.path("corpus/tiny.yaml").read_text())
    turned = "# a comment\n" + json.dumps(dict(reversed(list(suite.items()))))
    workspace.path("corpus/tiny.yaml").write_text(turned)
    assert workspace.moving() == {}


def test_an_explicit_default_and_an_omitted_one_are_the_same(workspace: Bench):
    """inspect_ai 5296."""
    workspace.edit("corpus/tiny.yaml", '"graph": "none",', "")
    workspace.edit("corpus/tiny.yaml", '"session_s": 60', '"session_s": 60.0, "turns": 60, "tokens": null')
    workspace.edit("corpus/tiny.yaml", '"engine": "nop"', '"engine": "nop", "replica": null, "params": {}')
    assert workspace.moving() == {}


def test_names_are_not_in_keys(workspace: Bench):
    """A renamed suite, task and arm find the evidence that was made under the old names."""
    text = workspace.path("corpus/tiny.yaml").read_text()
    workspace.path("corpus/tiny.yaml").unlink()
    for old, new in (
        ('"suite": "tiny"', '"suite": "other"'),
        ('"id": "add"', '"id": "sum"'),
        ('"name": "nop"', '"name": "none"'),
    ):
        assert old in text
        text = text.replace(old, new)
    workspace.path("corpus/other.yaml").write_text(text)
    done = workspace.doit()
    assert done.code == 0
    for step in ("session:other/sum/none/0", "session:other/sum/gold/0", "oracle:sum", "gold:sum", "cell:other/sum/gold/0"):
        assert done.did[step] == "restored", step
    assert "measured" not in done.did.values()


def test_a_second_suite_with_the_same_cells_shares_their_evidence(workspace: Bench):
    workspaces.write(workspace.root, "other", limits=workspaces.LIMITS, default=False)
    done = workspace.doit("suite:other")
    assert done.code == 0
    assert {done.did[step] for step in done.did if step.startswith(("session:", "cell:"))} == {"restored"}
    verified = workspace.doit("verify")
    assert (verified.code, verified.stderr) == (0, "")


def test_a_new_run_arm_and_task_add_cells_and_touch_no_other(workspace: Bench):
    suite = json.loads(workspace.path("corpus/tiny.yaml").read_text())
    suite["arms"].append(ARMS[0] | {"name": "again", "replica": 2})
    suite["tasks"].append(suite["tasks"][0] | {"id": "sum"})
    workspace.path("corpus/tiny.yaml").write_text(json.dumps(suite))
    plan = workspace.moving()
    sessions = {step: action for step, action in plan.items() if step.startswith("session:")}
    assert sessions == {
        "session:tiny/add/again/0": "measure",
        "session:tiny/sum/nop/0": "restore",
        "session:tiny/sum/gold/0": "restore",
        "session:tiny/sum/again/0": "measure",
    }


def test_only_what_was_asked_for_is_made(tmp_path: Path):
    bench = Bench(workspaces.tiny(tmp_path / "ws"))
    done = bench.doit("template", "runtime:nop")
    assert done.code == 0
    assert set(done.did) == {"template:adder", "runtime:nop"}


def test_a_pattern_selects_steps_with_what_they_need(workspace: Bench):
    shutil.rmtree(workspace.path("artifacts/cells"))
    done = workspace.doit("cell:tiny/add/*/0")
    assert (done.code, done.did) == (0, dict.fromkeys(CELLS, "restored"))


def test_a_target_names_its_step(workspace: Bench):
    workspace.path("artifacts/cells/tiny/add/nop/0.json").unlink()
    done = workspace.doit("artifacts/cells/tiny/add/nop/0.json")
    assert (done.code, done.did) == (0, {"cell:tiny/add/nop/0": "restored"})


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["cell:tiny/add/nop/1"], "did you mean cell:tiny/add/nop/0?"),
        (["nonsense"], "no step 'nonsense'"),
        (["cell:other/*"], "matches no step"),
        (["run=3"], "did you mean 'runs'?"),
        (["runs=0"], "runs=: not a whole number"),
        (["arms=nop,golf"], "did you mean 'gold'?"),
        (["-n", "0x"], "process"),
        (["-n", "-1"], "-n: -1 workers"),
        (["-n", "0"], "-n: 0 workers"),
        (["--always"], "always"),
        (["-s", "cell"], "-s"),
    ],
)
def test_a_command_line_that_asks_for_what_is_not_there(workspace: Bench, words: list[str], expected: str):
    done = workspace.doit(*words)
    assert done.code == 2, done.stderr
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr


def test_variables_are_echoed_and_change_the_matrix(workspace: Bench):
    done = workspace.doit("suite:tiny", "arms=nop")
    assert done.code == 0
    assert "with arms=nop\n" in done.stdout
    rows = workspace.path("artifacts/reports/tiny/results.jsonl").read_text().splitlines()
    assert [json.loads(row)["arm"] for row in rows] == ["nop"]
    assert set(workspace.moving()) == AFTER_CELLS, "the suite as its file says is another question"


@pytest.mark.parametrize("command", ["forget", "ignore", "reset-dep", "dumpdb", "strace"])
def test_commands_that_would_bless_or_drop_unseen_are_refused(workspace: Bench, command: str):
    done = workspace.doit(command)
    assert done.code == 2
    assert "has no place" in done.stderr


def test_a_folder_that_is_no_workspace(tmp_path: Path):
    shutil.copy(workspaces.CODE / "dodo.py", tmp_path / "dodo.py")
    done = Bench(tmp_path).doit()
    assert done.code == 2
    assert len(done.stderr.splitlines()) == 1
    assert "doit init DIR" in done.stderr
