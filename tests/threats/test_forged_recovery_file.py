"""A branch that carries a recovery file of its own: `doit apply` recovers first, and what it undoes deletes files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bench.core import digest
from bench.effects.swap import recovery
from bench.errors import ApplyFailed

OURS = ".assay-0123456789ab-0"


def forge(root: Path, staged: str, *, state: str = recovery.OPEN, mode: int = 0o600, owner: int | None = None) -> None:
    (root / "README.md").write_bytes(b"the project")
    (root / "LICENSE").write_bytes(b"its licence")
    entry = {"path": "LICENSE", "staged": staged, "base": digest.of_bytes(b"its licence"), "new": digest.of_bytes(b"x")}
    if state == recovery.DONE:
        entry["base"] = digest.of_bytes(b"the project")
    file = root / recovery.NAME
    file.write_text(json.dumps({"schema": recovery.SCHEMA, "state": state, "note": {}, "files": [entry]}))
    file.chmod(mode)
    if owner is not None:
        os.chown(file, owner, owner)


@pytest.mark.parametrize("state", [recovery.OPEN, recovery.DONE])
@pytest.mark.parametrize("staged", ["README.md", "./README.md", ".assay-recovery.json", f"{OURS}\n", f"x/{OURS}"])
def test_no_file_is_deleted_but_under_a_name_that_an_apply_gives(tmp_path: Path, staged: str, state: str) -> None:
    forge(tmp_path, staged, state=state)
    with pytest.raises(ApplyFailed, match="not a recovery file of ours"):
        recovery.recover(tmp_path)
    assert (tmp_path / "README.md").read_bytes() == b"the project"
    assert (tmp_path / "LICENSE").read_bytes() == b"its licence"
    assert (tmp_path / recovery.NAME).exists()


def test_a_checked_out_recovery_file_is_refused_whatever_it_says(tmp_path: Path) -> None:
    forge(tmp_path, OURS, mode=0o644)
    (tmp_path / OURS).write_bytes(b"kept")
    with pytest.raises(ApplyFailed, match="not a recovery file of ours"):
        recovery.recover(tmp_path)
    assert (tmp_path / OURS).read_bytes() == b"kept"


def test_a_recovery_file_of_another_user_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        return  # only root can give a file away
    forge(tmp_path, OURS, owner=12345)
    (tmp_path / OURS).write_bytes(b"kept")
    with pytest.raises(ApplyFailed, match="not a recovery file of ours"):
        recovery.recover(tmp_path)
    assert (tmp_path / OURS).read_bytes() == b"kept"
