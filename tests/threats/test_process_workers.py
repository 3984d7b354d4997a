"""pydoit 461 and 312: process workers hang when one dies, and cannot pickle closures under spawn.

They have no place here.
"""

from __future__ import annotations

import pytest

from tests.make.workspaces import Bench


@pytest.mark.parametrize("words", [("-n", "2", "-P", "process"), ("-P", "thread"), ("--parallel-type=process",)])
def test_they_are_refused_before_anything_runs(workspace: Bench, words: tuple[str, ...]):
    before = workspace.path("artifacts/journal.jsonl").read_bytes()
    done = workspace.doit(*words)
    assert done.code == 2
    assert len(done.stderr.splitlines()) == 1
    assert workspace.path("artifacts/journal.jsonl").read_bytes() == before
