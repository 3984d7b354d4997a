"""The process outside that bounds a run and ends it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.effects.sandbox import launcher

SUPERVISE = """
import ctypes, json, signal, sys
from bench.effects.sandbox import launcher
ctypes.CDLL(None).prctl(launcher.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, *launcher.ENDING})
print(launcher.supervise(json.loads(sys.argv[1])))
"""
ROOT = Path(launcher.__file__).parents[3]


def supervised(script: str, folder: Path) -> str:
    plan: dict[str, Any] = {"argv": ["/bin/sh", "-c", script], "environment": {"PATH": "/usr/bin:/bin"}, "watch": False}
    plan |= {"baseline": 0, "memories": [], "layers": [str(folder)], "disk": 1 << 16}
    command = [sys.executable, "-c", SUPERVISE, json.dumps(plan)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()[-1]


def test_a_flood_of_dying_orphans_does_not_put_off_the_look_at_the_disk(tmp_path: Path) -> None:
    fill = f"head -c 1000000 /dev/zero > {tmp_path}/x"
    assert supervised(f"{fill}; n=0; while [ $n -lt 3000 ]; do (sleep 0.01 &); n=$((n+1)); done", tmp_path) == "disk"
    assert supervised(f"rm {tmp_path}/x; sleep 0.5", tmp_path) == "-"
