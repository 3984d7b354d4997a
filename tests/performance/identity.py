"""How many free records of the demo are byte-identical when they are made anew at another path, by another user.

    python tests/performance/identity.py

Builds the demo, takes its sessions (which hold durations and are never made twice) to a second workspace, and makes all else
there again: with an interpreter and packages of its own and, where root runs this, as a user that nobody else is. Prints
equal and all, by kind. The target is 100 %.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

USER = 64322
KEPT = ("sessions", "preflight", "canaries", "store")
"""Below artifacts/: what is taken along. Of the store's keys, those of `PAID` alone."""
PAID = {"session", "preflight", "canary"}


def main() -> int:
    """Measure and print; 1 where a record differs."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        place = laid(Path(first, "w"))
        built(place, [sys.executable], dict(os.environ))
        home = Path(second)
        other = laid(home / "elsewhere" / "deep" / "workspace")
        for name in KEPT:
            shutil.copytree(place / "artifacts" / name, other / "artifacts" / name)
        for entry in (other / "artifacts/store/keys").rglob("*"):
            if entry.is_file() and json.loads(entry.read_bytes())["kind"] not in PAID:
                entry.unlink()
        shutil.rmtree(other / "artifacts/store/trees")
        built(other, *someone_else(home))
        return told(records(place), records(other))


def laid(place: Path) -> Path:
    """A workspace of the demo at `place`."""
    shutil.copytree(ROOT / "corpus", place / "corpus")
    shutil.copytree(ROOT / "oracles", place / "oracles")
    shutil.copy(ROOT / "dodo.py", place)
    (place / "artifacts").mkdir()
    return place


def someone_else(home: Path) -> tuple[list[str], dict[str, str]]:
    """(command of the interpreter, environment) of a user to whom all of `home` belongs; of ours where we are not root."""
    from bench.effects.sandbox import interpreter

    packages = home / "packages"
    shutil.copytree(interpreter.neutral(), home / "python", symlinks=True)
    for path in map(Path, sys.path[1:]):
        if path.name in ("site-packages", "dist-packages") and path.is_dir():
            shutil.copytree(
                path, packages, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "__editable__*")
            )
    shutil.copytree(ROOT / "bench", packages / "bench", dirs_exist_ok=True)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(packages)}
    environment["LD_LIBRARY_PATH"] = str(home / "python/lib")
    python = [str(home / "python/bin/python3")]
    if os.getuid() != 0:
        return python, environment
    subprocess.run(["chown", "-R", f"{USER}:{USER}", str(home)], check=True)
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *python], environment


def built(place: Path, python: list[str], environment: dict[str, str]) -> None:
    """Bring the demo up to date; what it prints is shown when it fails."""
    command = [*python, "-m", "doit", "-n", "2", "suite:demo"]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout.decode() + done.stderr.decode())


def records(place: Path) -> dict[str, bytes]:
    """Path below artifacts/ to bytes, of every free record and of what is laid out of reports."""
    root = place / "artifacts"
    found = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return {path: data for path, data in found.items() if "/" in path and path.split("/")[0] not in {*KEPT, "logs"}}


def told(ours: dict[str, bytes], theirs: dict[str, bytes]) -> int:
    """Print the table."""
    every = Counter(path.split("/")[0] for path in {*ours, *theirs})
    same = Counter(path.split("/")[0] for path in ours if ours[path] == theirs.get(path))
    for kind, number in sorted(every.items()):
        print(f"{kind:12} {same[kind]:5} of {number:5} byte-identical")
    print(f"{'all':12} {same.total():5} of {every.total():5} = {100 * same.total() / every.total():.1f} %")
    for path in sorted(path for path in {*ours, *theirs} if ours.get(path) != theirs.get(path))[:10]:
        print(f"  differs: {path}")
    return int(same != every)


if __name__ == "__main__":
    sys.exit(main())
