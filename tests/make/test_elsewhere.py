"""macOS and Windows: evidence is read there, and making any is refused in one line.

What Windows lacks is taken away from this Python before it starts, as far as reading could ever ask for it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.make import workspaces
from tests.make.workspaces import Bench

WITHOUT = """
import os, signal, sys
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
for name in ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "fchmod", "geteuid", "getuid", "killpg", "pread"):
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL"):
    delattr(signal, name)
from doit.__main__ import main
sys.exit(main())
"""


def doit(bench: Bench, *words: str) -> tuple[int, str, str]:
    command = [sys.executable, "-c", WITHOUT, *words]
    done = subprocess.run(command, cwd=bench.root, env=bench.environment(), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_evidence_is_read_and_none_is_made(built: Callable[[str], Path], tmp_path: Path) -> None:
    bench = Bench(workspaces.copied(built("tiny"), tmp_path / "ws"))
    before = bench.records()
    for words in (["plan"], ["why", "cell:tiny/add/gold/0"], ["list"], ["verify"]):
        code, out, err = doit(bench, *words)
        assert (code, err) == (0, ""), words
        assert out, words
    bench.edit("oracles/add/check.sh", "5", "6")
    code, out, err = doit(bench, "plan")
    assert (code, "cell:tiny/add/gold/0" in out) == (0, True)
    code, out, err = doit(bench)
    assert (code, err.count("\n")) == (3, 1)
    assert "make it on Linux" in err
    assert bench.records() == before
