"""Start of a session's sandbox beside a bare process, and on sources of 50 and of 50,000 files.

    python tests/performance/sandbox_start.py

Prints medians of interleaved runs, in one run: milliseconds more than the bare process, and the ratio between the two sizes.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.effects.sandbox import Spec, Workspace, runner

REPEATS = 15


def seconds(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


def tree(folder: Path, files: int) -> Path:
    """A source of `files` small files, 100 to a folder."""
    for number in range(files):
        path = folder / f"d{number // 100:03}" / f"f{number % 100:02}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    return folder


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        backing = runner.choose_backing(home)
        sources = {50: tree(home / "small", 50), 50_000: tree(home / "large", 50_000)}
        spaces = {}
        for size, source in sources.items():
            spaces[size] = Workspace(source, home / f"upper-{size}", backing)
            runner.prepare(spaces[size])
        measured: dict[str, list[float]] = {}
        for _ in range(REPEATS):
            measured.setdefault("bare", []).append(seconds(lambda: subprocess.run(["true"], check=True)))
            for size, space in spaces.items():
                spec = Spec(("true",), space)
                measured.setdefault(str(size), []).append(seconds(lambda spec=spec: runner.run(spec)))
        medians = {name: statistics.median(values) for name, values in measured.items()}
        for space in spaces.values():
            runner.discard(space)
        print(f"backing {backing}, medians of {REPEATS}")
        print(f"bare process {medians['bare'] * 1000:.1f} ms")
        print(f"sandbox, 50 files {medians['50'] * 1000:.1f} ms: {(medians['50'] - medians['bare']) * 1000:.1f} ms more")
        ratio = medians["50000"] / medians["50"]
        print(f"sandbox, 50,000 files {medians['50000'] * 1000:.1f} ms: {ratio:.2f} × that of 50 files")


if __name__ == "__main__":
    main()
