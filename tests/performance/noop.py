"""Up-to-date `doit` over N cells, beside plain doit (sqlite3, MD5), GNU make, ninja and Snakemake on the same steps.

    python tests/performance/noop.py 1000 10000

Prints medians of interleaved runs and their ratios to plain doit in the same run, of elapsed and of processor time (which a
loaded machine distorts less); builds all in a temporary directory, or
with `--at FOLDER` in FOLDER/<cells>, where a later run finds it. Tools not installed are left out. Bytecode is compiled
beforehand for all. `bare` is `doit`, `named` is `doit suite:wide`, `touched` is `doit` after the suite file was touched:
the stamp answers them. `check` declares every step and looks at every record, and leaves no stamp (a variable is given);
`check+stamp` is `doit` where no stamp is left from before.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.performance.generate import workspace

REPEATS = 5
EXPORT = """
import json, sys
sys.argv = ["doit", "export"]
import dodo
steps = []
for name, make in list(vars(dodo).items()):
    if name.startswith("task_") and name != "task_suite":
        for task in make():
            steps.append([f"{name[5:]}:{task['name']}", sorted(set(task["file_dep"])), task["targets"]])
json.dump(steps, open("steps.json", "w"))
"""
PLAIN = """
import json
DOIT_CONFIG = {"backend": "sqlite3", "dep_file": "plain.db"}
def nothing():
    return None
def task_step():
    for name, deps, targets in json.load(open("steps.json")):
        yield {"name": name, "actions": [nothing], "file_dep": deps, "targets": targets, "verbosity": 0}
"""


def timed(argv: list[str], cwd: Path, env: dict[str, str]) -> tuple[float, float, int]:
    """Seconds, processor seconds and peak memory in MB of a command that must succeed."""
    before = time.perf_counter()
    child = subprocess.Popen(argv, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - before
    if status != 0:
        raise SystemExit(f"{argv} failed: {child.stderr.read().decode()[-500:] if child.stderr else ''}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def prepare(place: Path, cells: int) -> dict[str, list[str]]:
    """Build the workspace and the same graph for the other tools; gives the no-op command of each."""
    doit = [sys.executable, "-m", "doit"]
    if not place.exists():
        workspace(place, cells)
    built = time.perf_counter()
    subprocess.run([*doit, "-n", "2"], cwd=place, check=True, stdout=subprocess.DEVNULL)
    print(f"{cells} cells: first build {time.perf_counter() - built:.0f} s", flush=True)
    subprocess.run([sys.executable, "-c", EXPORT], cwd=place, check=True)
    (place / "empty").mkdir(exist_ok=True)
    (place / "empty" / "dodo.py").write_text(
        "DOIT_CONFIG = {'backend': 'json'}\ndef task_x():\n    return {'actions': None}\n"
    )
    (place / "plain.py").write_text(PLAIN)
    plain = [sys.executable, "-c", "import sys; from doit.doit_cmd import DoitMain; from doit.cmd_run import Run\n"
             "class Main(DoitMain):\n  def get_cmds(self):\n    c = super().get_cmds(); c['run'] = Run; return c\n"
             "sys.exit(Main().run(['run', '-f', 'plain.py']))"]  # fmt: skip
    subprocess.run(plain, cwd=place, check=True, stdout=subprocess.DEVNULL)
    commands = {"plain doit": plain, "assay check": [*doit, "suite:wide", "runs=1"], "assay check+stamp": doit}
    commands |= {"assay bare": doit, "assay named": [*doit, "suite:wide"], "assay touched": doit}
    steps = json.loads((place / "steps.json").read_text())
    (place / "Makefile").write_text(_makefile(steps))
    (place / "build.ninja").write_text(_ninja(steps))
    for tool, argv in {"make": ["make", "-s"], "ninja": ["ninja", "--quiet"]}.items():
        if shutil.which(tool):
            subprocess.run(argv, cwd=place, check=True, stdout=subprocess.DEVNULL)
            commands[tool] = argv
    if shutil.which("snakemake") and cells <= 1000:
        (place / "Snakefile").write_text(_snakefile(steps))
        commands["snakemake"] = ["snakemake", "-q", "--rerun-triggers", "mtime", "-c1", "all"]
    return commands


def before(name: str, place: Path) -> None:
    """What a measurement wants done first, outside its time."""
    if name == "assay check+stamp":
        for stamp in ("artifacts/.stamp", "artifacts/.stamp.named"):
            (place / stamp).unlink(missing_ok=True)
    if name == "assay touched":
        (place / "corpus" / "wide.yaml").touch()


def main(sizes: list[int], home: str | None) -> None:
    """Measure every size."""
    medians: dict[tuple[str, int], float] = {}
    for cells in sizes:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(home or folder) / str(cells)
            env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
            env["PYTHONPYCACHEPREFIX"] = f"{folder}/bytecode"
            commands = prepare(place, cells)
            empty = [sys.executable, "-c", "import sys; from doit.doit_cmd import DoitMain; from doit.cmd_run import Run\n"
                     "class Main(DoitMain):\n  def get_cmds(self):\n    c = super().get_cmds(); c['run'] = Run; return c\n"
                     "sys.exit(Main().run(['run']))"]  # fmt: skip
            runs: dict[str, list[tuple[float, float, int]]] = {}
            for repeat in range(REPEATS + 1):
                for name, argv in [*commands.items(), ("empty dodo", empty)]:
                    before(name, place)
                    found = timed(argv, place / "empty" if argv is empty else place, env)
                    if repeat:  # the first one compiles
                        runs.setdefault(name, []).append(found)
            base = [statistics.median(run[i] for run in runs["plain doit"]) for i in (0, 1)]
            for name, measured in runs.items():
                seconds, busy = (statistics.median(run[i] for run in measured) for i in (0, 1))
                medians[name, cells] = busy
                said = f"{seconds:7.3f} s {seconds / base[0]:6.2f} ×   processor {busy:7.3f} s {busy / base[1]:6.2f} ×"
                print(f"{cells:6} {name:17} {said}  {max(run[2] for run in measured):4} MB", flush=True)
    if len(sizes) > 1:
        for name in sorted({name for name, _ in medians}):
            if (name, sizes[0]) in medians and (name, sizes[-1]) in medians:
                growth = medians[name, sizes[-1]] / medians[name, sizes[0]]
                print(f"growth {sizes[0]} → {sizes[-1]} (processor): {name} {growth:.1f} ×")
    print(f"own peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def _makefile(steps: list[Any]) -> str:
    every = " ".join(str(step[2][0]) for step in steps)
    rules = [f"{step[2][0]}: {' '.join(step[1])}\n\t@touch $@" for step in steps]
    return f"all: {every}\n" + "\n".join(rules) + "\n"


def _ninja(steps: list[Any]) -> str:
    rules = [f"build {step[2][0]}: touch {' '.join(step[1])}" for step in steps]
    return "rule touch\n  command = touch $out\n" + "\n".join(rules) + "\n"


def _snakefile(steps: list[Any]) -> str:
    every = [step[2][0] for step in steps]
    rules = [f"rule:\n    input: {step[1]!r}\n    output: {step[2][:1]!r}\n    shell: 'touch {{output}}'" for step in steps]
    return f"rule all:\n    input: {every!r}\n" + "\n".join(rules) + "\n"


if __name__ == "__main__":
    given = sys.argv[1:]
    home = given.pop(given.index("--at") + 1) if "--at" in given else None
    main([int(word) for word in given if word != "--at"] or [1000], home)
