"""SWE-bench's run_instance: the same run id, model and instance with another patch got the old grade back."""

from __future__ import annotations

from tests.make.workspaces import Bench


def test_a_changed_solution_is_graded_again_under_the_same_names(workspace: Bench):
    cell = "artifacts/cells/tiny/add/gold/0.json"
    before = workspace.record(cell)
    assert before["body"]["resolved"] is True
    workspace.edit("oracles/add/gold.patch", "+echo $(($1 + $2))", "+echo $(($1 * $2))")
    done = workspace.doit()
    assert done.did["session:tiny/add/gold/0"] == "measured"
    after = workspace.record(cell)
    assert (after["name"], after["body"]["resolved"]) == (before["name"], False)
    assert after["key"] != before["key"]
    assert "session:tiny/add/nop/0" not in done.did
