"""The harness's own time per cell of the demo: everything outside session, setup and verifiers, templates expanded.

    python tests/performance/cell_overhead.py

Builds the demo in a temporary workspace, then makes every session and cell once more in this process, with the time of the
agent, setup and verifiers taken off. One at a time, so that nothing waits for a processor.
"""

from __future__ import annotations

import importlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / "w"
        place.mkdir()
        for part in ("corpus", "oracles"):
            shutil.copytree(ROOT / part, place / part)
        shutil.copy(ROOT / "dodo.py", place)
        (place / "artifacts").mkdir()
        subprocess.run([sys.executable, "-m", "doit", "-n", "2"], cwd=place, check=True, stdout=subprocess.DEVNULL)
        _measure(place, Path(scratch))


def _measure(place: Path, scratch: Path) -> None:
    os.chdir(place)
    sys.path.insert(0, str(place))
    sys.argv = ["doit", "plan"]
    dodo = importlib.import_module("dodo")
    for name, make in list(vars(dodo).items()):
        if name.startswith("task_"):
            list(make())
    workspace = dodo.PIPELINE.workspace
    from bench.effects import executors
    from bench.effects.context import Context, Job
    from bench.effects.grading import verifiers
    from bench.make.decide import decide

    inside = 0.0

    def counted(call):
        def timed(*args, **more):
            nonlocal inside
            before = time.perf_counter()
            try:
                return call(*args, **more)
            finally:
                inside += time.perf_counter() - before

        return timed

    # A script that measures may stand in the way; no test does.
    verifiers.visible, verifiers.hidden = counted(verifiers.visible), counted(verifiers.hidden)
    totals: dict[str, list[float]] = {"session": [], "cell": []}
    outside: dict[str, list[float]] = {"session": [], "cell": []}
    for step in list(workspace.steps.values()):
        if step.kind not in totals or not step.name.startswith("demo/"):
            continue
        inputs = decide(workspace, step).inputs
        files = {role: workspace.store.put(Path(path).read_bytes()) for role, path in step.files.items()}
        job = Job(step.kind, step.name, "", step.params, inputs, files, step.hints)
        folder = Path(tempfile.mkdtemp(dir=scratch))
        context = Context(workspace.store, place, folder, threading.Event(), lambda line: None)
        inside = 0.0
        before = time.perf_counter()
        made = executors.create().execute(step.module, job, context)
        took = time.perf_counter() - before
        if step.kind == "session":
            inside = float(made.body["duration_s"])
        totals[step.kind].append(took)
        outside[step.kind].append(took - inside)
    for kind in totals:
        total, own = statistics.median(totals[kind]), statistics.median(outside[kind])
        print(f"{kind:8} median {total:.2f} s, of it outside agent and verifiers {own:.2f} s ({len(totals[kind])} made)")
    both = statistics.median(a + b for a, b in zip(outside["session"], outside["cell"], strict=True))
    print(f"harness time per cell, session and grading together: median {both:.2f} s")


if __name__ == "__main__":
    main()
