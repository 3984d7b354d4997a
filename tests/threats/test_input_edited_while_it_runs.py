"""pydoit 119: doit records the state of an input after the action, so an edit during a run was taken for what was used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.effects import clock
from tests.make import workspaces
from tests.make.workspaces import Bench

pytestmark = pytest.mark.slow


def test_a_result_is_never_recorded_for_what_was_edited_in_meanwhile(tmp_path: Path):
    bench = Bench(workspaces.tiny(tmp_path / "ws"))
    # The gold session waits in its set-up, so that the edit falls between the first look at the oracle and its use.
    bench.edit("corpus/tiny.yaml", '"verify"', '"setup": "sleep 2", "verify"')
    child = bench.start("-n", "1")
    deadline = clock.monotonic() + 60
    while not bench.path("artifacts/oracles/add.json").exists():
        assert child.poll() is None
        assert clock.monotonic() < deadline
        clock.sleep(0.01)
    sealed = bench.record("artifacts/oracles/add.json")["content"]
    bench.edit("oracles/add/check.sh", "= 5", "= 6")
    assert child.wait(120) == 0
    cell = bench.record("artifacts/cells/tiny/add/gold/0.json")
    assert cell["inputs"]["oracle"] == sealed, "graded by the oracle that was looked at"
    assert cell["body"]["resolved"] is True
    done = bench.doit()
    assert done.did["oracle:add"] == "built", "the edit is seen by the next run, stamp or no stamp"
    assert done.did["cell:tiny/add/gold/0"] == "built"
    assert bench.record("artifacts/cells/tiny/add/gold/0.json")["body"]["resolved"] is False


def test_a_file_added_while_it_runs_is_seen_by_the_next_run(tmp_path: Path):
    bench = Bench(workspaces.tiny(tmp_path / "ws"))
    bench.path("corpus/repos/adder/deep/er").mkdir(parents=True)
    bench.edit("corpus/tiny.yaml", '"verify"', '"setup": "sleep 1", "verify"')
    child = bench.start("-n", "1")
    deadline = clock.monotonic() + 60
    while not bench.path("artifacts/templates/adder.json").exists():
        assert child.poll() is None
        assert clock.monotonic() < deadline
        clock.sleep(0.01)
    workspaces.put(bench.root, "corpus/repos/adder/deep/er/new.sh", "true\n")
    assert child.wait(120) == 0
    done = bench.doit()
    assert done.did["template:adder"] == "built"
    assert json.loads(bench.path("artifacts/templates/adder.json").read_bytes())["body"]["files"] == 2
    assert bench.doit().did == {}
    workspaces.put(bench.root, "corpus/repos/adder/deep/newer.sh", "true\n")
    assert bench.doit().did["template:adder"] == "built", "a stamp watches folders that hold nothing but folders, too"
