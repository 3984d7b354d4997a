"""An overlay that adds a file has no base to compare with: decided like any other, and refused by apply in words.

Incident (failure mode 35): it was a traceback, after everything had been paid for.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.make import workspaces
from tests.make.workspaces import Bench


@pytest.mark.slow
def test_an_overlay_that_adds_a_file_is_measured_decided_and_refused_in_words(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    workspaces.promoted(root)
    workspaces.put(root, "corpus/candidates/mend/mend/more.md", "More.\n")
    workspaces.commit(root)
    bench = Bench(root)
    assert bench.doit().code == 0
    document = json.loads(bench.path("artifacts/reports/tiny/promotion.json").read_bytes())
    assert document["decision"] == "promote"
    assert sorted(document["target_base_digests"]) == ["corpus/skills/mend/SKILL.md", "plugin/skills/mend/SKILL.md"]
    done = bench.doit("apply:tiny/candidate")
    assert (done.code, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert "NOT PROMOTED: the overlay adds 'mend/more.md', which the incumbent does not have" in line
    assert bench.path("corpus/skills/mend/SKILL.md").read_text() == workspaces.SKILL
