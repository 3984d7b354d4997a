"""The workspace of the sandbox's conformance suite, once for each backing of the registry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.effects.sandbox import BACKINGS, Workspace, runner


@pytest.fixture(params=sorted(BACKINGS))
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    template = tmp_path / "template"
    (template / "folder").mkdir(parents=True)
    (template / "a.txt").write_text("a")
    (template / "folder" / "b.txt").write_text("b")
    (template / "folder" / "c.txt").write_text("c")
    (template / "tool.sh").write_text("#!/bin/sh\necho tool\n")
    (template / "tool.sh").chmod(0o755)
    (template / "link").symlink_to("a.txt")
    (template / "out").symlink_to("/etc")
    made = Workspace(template, tmp_path / "upper", request.param)
    runner.prepare(made)
    yield made
    runner.discard(made)
