"""pydoit 249 and 91: with `--continue -n 3`, a failing step took its dependents with it, and all of them ran again later.

Here a failing step is a record with a reason: the others run, aggregate and report say "incomplete n of m", the exit code is
1, and the next run makes the failed ones again and nothing else.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.make import workspaces
from tests.make.workspaces import ARMS, Bench

pytestmark = pytest.mark.slow

RAISES = """
from tests.make.scripted import Scripted


def _breaks(job, context):
    raise RuntimeError("a step of ours that raises")


def step(kind, name, params, *, needs=None, files=None, **more):
    if f"{kind}:{name}" in BROKEN:  # what is declared first stays
        needed = {role: path for role, path in (needs or {}).items() if path}
        PIPELINE.workspace.declare(Scripted(kind, name, params, needed, hints={"does": _breaks}))
    return PIPELINE.step(kind, name, params, needs, files, **more)
"""


def break_steps(bench: Bench, *steps: str) -> None:
    """Have the workspace's dodo file put work that raises in place of these steps' own."""
    text = bench.path("dodo.py").read_text()
    marker = "step = PIPELINE.step\n"
    assert marker in text
    bench.path("dodo.py").write_text(text.replace(marker, f"BROKEN = {set(steps)!r}\n{RAISES}"))


def mend(bench: Bench) -> None:
    bench.path("dodo.py").write_text((workspaces.CODE / "dodo.py").read_text())


def test_others_run_the_report_says_incomplete_and_only_the_failed_run_again(tmp_path: Path):
    arms = [ARMS[0] | {"name": f"nop{n}", "replica": n} for n in range(5)] + [ARMS[1]]
    bench = Bench(workspaces.write(tmp_path / "ws", arms=arms))
    broken = {"session:tiny/add/nop1/0", "cell:tiny/add/nop3/0"}
    break_steps(bench, *broken)
    done = bench.doit("-n", "3")
    assert done.code == 1
    assert "tiny is incomplete: 4 of 6 cells measured" in done.stderr
    assert {step for step, did in done.did.items() if did == "not_run"} == broken | {"cell:tiny/add/nop1/0"}
    assert "4 of 6" in bench.path("artifacts/reports/tiny/report.md").read_text()
    rows = [json.loads(row) for row in bench.path("artifacts/reports/tiny/results.jsonl").read_text().splitlines()]
    assert len(rows) == 6
    for step in broken:
        assert f"{step}: internal error, see artifacts/logs/" in done.stderr
        kind, name = step.split(":")
        log = bench.path(f"artifacts/logs/{kind}s/{name}.log").read_text()
        assert "Traceback" in log
        assert "a step of ours that raises" in log
    mend(bench)
    again = bench.doit("-n", "3")
    assert again.code == 0, again.stderr
    made = {step for step in again.did if step.startswith(("session:", "cell:"))}
    assert made == broken | {"cell:tiny/add/nop1/0"}


def test_one_broken_source_stops_no_other(tmp_path: Path):
    bench = Bench(workspaces.tiny(tmp_path / "ws"))
    suite = json.loads(bench.path("corpus/tiny.yaml").read_text())
    suite["tasks"].append(suite["tasks"][0] | {"id": "broken", "source": {"dir": "repos/leaky"}})
    bench.path("corpus/tiny.yaml").write_text(json.dumps(suite))
    workspaces.put(bench.root, "corpus/repos/leaky/adder.sh", workspaces.SOURCE)
    bench.path("corpus/repos/leaky/out").symlink_to("../../../oracles/add/check.sh")
    done = bench.doit()
    assert done.code == 1
    assert done.did["template:leaky"] == "unusable"
    assert done.did["cell:tiny/add/gold/0"] == "built"
    assert "tiny is incomplete: 2 of 4 cells measured" in done.stderr
    (told,) = [line for line in done.stdout.splitlines() if "template:leaky" in line]
    assert "(out: " in told
    assert "template:leaky" not in done.stderr, "told once, where it happened"
    bench.path("corpus/repos/leaky/out").unlink()
    again = bench.doit()
    assert again.code == 0, again.stderr
    assert "cell:tiny/add/gold/0" not in again.did


def test_what_was_asked_for_by_name_and_is_not_there_is_exit_1(tmp_path: Path):
    bench = Bench(workspaces.tiny(tmp_path / "ws"))
    bench.path("corpus/repos/adder/out").symlink_to("/etc/passwd")
    done = bench.doit("cell:tiny/add/nop/0")
    assert done.code == 1
    assert "error: cell:tiny/add/nop/0 is not_run" in done.stderr
