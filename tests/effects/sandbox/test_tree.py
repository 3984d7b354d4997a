"""What a run uses on the disk, counted from outside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.effects.sandbox import tree

HOLDING = """
import os, sys
held = open(sys.argv[1], "w+b")
os.unlink(sys.argv[1])
held.write(bytes(1 << 20))
held.flush()
os.fsync(held.fileno())
print("held", flush=True)
sys.stdin.read()
"""


def test_deleted_files_count_whatever_others_free_on_the_same_disk(tmp_path: Path):
    plan = {"baseline": 0, "memories": [], "layers": [str(tmp_path)], "disk": 1 << 50}
    command = [sys.executable, "-I", "-c", HOLDING, str(tmp_path / "x")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        found = [tree.used(plan) for _ in range(tree.CLOSER)]
        holder.communicate(b"")
    assert list(tmp_path.iterdir()) == []
    assert max(found) >= 1 << 20
    assert tree.used(dict(plan)) < 1 << 20
