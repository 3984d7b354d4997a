"""Makes a workspace of N cells for benchmarks: one shared source, nop arms told apart by `replica`, one oracle for all.

Sessions and cells of equal keys are one piece of evidence, so that even 10,000 cells are built in minutes: what is measured
is the harness, not the sandbox.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARMS = 10


def workspace(target: Path, cells: int) -> None:
    """Write a workspace of `cells` cells (a multiple of 10): tasks × 10 arms."""
    target.mkdir(parents=True)
    shutil.copy(ROOT / "dodo.py", target / "dodo.py")
    source = target / "corpus" / "repos" / "tiny"
    source.mkdir(parents=True)
    (source / "tiny.py").write_text("def one():\n    return 2\n")
    (target / "oracles").mkdir()
    (target / "oracles" / "check.sh").write_text("grep -q 'return 1' /workspace/tiny.py\n")
    (target / "artifacts").mkdir()
    arms = [f"  - {{name: a{n}, role: comparator, engine: nop, replica: {n}}}" for n in range(ARMS)]
    tasks = [
        f"  - {{id: t{n:05}, class: trivial, source: {{dir: repos/tiny}}, prompt: Mend it., verify: 'true',"
        f" oracle: {{command: 'sh \"$BENCH_ORACLE_ROOT/check.sh\"', files: [{{source: check.sh, target: check.sh}}]}}}}"
        for n in range(cells // ARMS)
    ]
    suite = ["suite: wide", "default: true", "runs: 1", "graph: none", "arms:", *arms, "tasks:", *tasks, ""]
    (target / "corpus" / "wide.yaml").write_text("\n".join(suite))


if __name__ == "__main__":
    workspace(Path(sys.argv[1]), int(sys.argv[2]))
