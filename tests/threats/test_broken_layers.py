"""GitNexus run 33912693948: a review file in a read-only directory; 41 paid sessions handed in nothing, for 3653 dollars.

Each layer between an agent and its evidence is broken in turn, in a copy of our own code, and the real `doit` is run: the
preflight names the layer, no session starts, and what is held back says why.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.make import workspaces
from tests.make.workspaces import CODE, LIMITS, Bench

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Break:
    """One edit of a file of the package."""

    path: str
    old: str
    new: str


BREAKS = {
    "sandbox": Break("effects/sessions/playing.py", "argv=tuple(argv),", 'argv=("/nowhere/sh",),'),
    "artifact": Break(
        "effects/sessions/playing.py",
        "env={**shown.env, **env}, writable=writable)",
        "env={**shown.env, **env})\n    base = replace(base, readonly=(*base.readonly, *writable))",
    ),
    "skill": Break(
        "effects/sessions/shown.py",
        "binds.append(Bind(trees.expand(store, blob.blob), place))",
        'binds.append(Bind(_empty(scratch / "nothing"), place))',
    ),
    "oracle": Break("effects/grading/verifiers.py", "path.chmod(0o444)", "path.chmod(0o000)"),
    "gateway": Break(
        "effects/gateway/gate.py",
        'if asked.method == "HEAD":',
        'threading.Event().wait(600)\n        if asked.method == "HEAD":',
    ),
    "relay": Break(
        "effects/engines/claude/inside/relay.py", 'upstream.connect(order["socket"])', 'upstream.connect("/run/model/none")'
    ),
    "cli": Break("effects/engines/claude/command.py", '"--verbose", ', '"--verbose", "--no-such-flag", '),
}
GRAPH = {
    "loop": Break("effects/sessions/shown.py", "graphtools.environment(), ()", "{}, ()"),
    "claude": Break("effects/sessions/shown.py", "{}, server.argv", '{}, ("/opt/graph/none",)'),
}
HANGING = (BREAKS["gateway"], BREAKS["relay"])
"""With these the client asks again until its time is up: it is given less of it."""
REHEARSAL, PATIENCE = "effects/sessions/rehearsal.py", "\nSECONDS = 150.0\n"
LOOP = ("artifact", "skill", "graph", "oracle")
CLAUDE = ("sandbox", "relay", "gateway", "cli", "skill", "artifact", "graph", "oracle")


def broken(root: Path, edit: Break) -> Path:
    """A copy of the package with that edit; the folder to import it from."""
    home = root / "code"
    shutil.copytree(CODE / "bench", home / "bench", ignore=shutil.ignore_patterns("__pycache__"))
    path = home / "bench" / edit.path
    text = path.read_text()
    assert text.count(edit.old) == 1, f"{edit.old!r} stands {text.count(edit.old)} times in {edit.path}"
    path.write_text(text.replace(edit.old, edit.new))
    if edit in HANGING:
        path, text = home / "bench" / REHEARSAL, (CODE / "bench" / REHEARSAL).read_text()
        assert text.count(PATIENCE) == 1
        path.write_text(text.replace(PATIENCE, "\nSECONDS = 30.0\n"))
    return home


def workspace(root: Path, engine: str) -> Bench:
    """One agent's arm that would replay a cassette which it does not fit: its sessions are not to start."""
    arms = [{"name": "agent", "role": "incumbent", "engine": engine}]
    bench = Bench(workspaces.write(root, arms=arms, model="replay/demo", runs=2, limits=LIMITS))
    (bench.root / "corpus" / "cassettes").mkdir()
    shutil.copy(CODE / "corpus" / "cassettes" / "demo.json", bench.path("corpus/cassettes/demo.json"))
    return bench


@pytest.mark.parametrize(
    ("engine", "layer"), [*(("loop", layer) for layer in LOOP), *(("claude", layer) for layer in CLAUDE)]
)
def test_preflight_names_the_layer_and_no_session_starts(tmp_path: Path, engine: str, layer: str):
    edit = GRAPH[engine] if layer == "graph" else BREAKS[layer]
    bench = workspace(tmp_path / "ws", engine)
    done = bench.doit("suite:tiny", env={"PYTHONPATH": str(broken(tmp_path, edit))})
    assert done.code == 1, done.stdout + done.stderr
    found = bench.record(f"artifacts/preflight/tiny/{engine}.json")
    assert (found["state"], found["reason"].split(":")[0]) == ("unusable", layer), found["reason"]
    sessions = [json.loads(path.read_bytes()) for path in bench.path("artifacts/sessions").rglob("*.json")]
    assert {record["state"] for record in sessions} == {"not_run"}
    assert {record["reason"] for record in sessions} == {f"its preflight is unusable: {found['reason']}"}
    assert len(sessions) == 2
    assert re.search(rf"^unusable +preflight:tiny/{engine} .*\({layer}: ", done.stdout, re.MULTILINE), done.stdout
    assert bench.record("artifacts/reports/tiny.json")["state"] == "final"


@pytest.mark.parametrize("engine", ["loop", "claude"])
def test_a_whole_path_is_rehearsed_once(tmp_path: Path, engine: str):
    bench = workspace(tmp_path, engine)
    done = bench.doit(f"preflight:tiny/{engine}")
    assert done.code == 0, done.stderr
    found = bench.record(f"artifacts/preflight/tiny/{engine}.json")
    assert (found["state"], found["body"]["layer"], found["body"]["skill_invoked"]) == ("final", None, True)
    assert bench.moving(f"preflight:tiny/{engine}") == {}
    bench.path(f"artifacts/preflight/tiny/{engine}.json").unlink()
    assert bench.doit(f"preflight:tiny/{engine}").did == {f"preflight:tiny/{engine}": "restored"}
