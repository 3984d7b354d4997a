"""pydoit 59 and 125: a task named with a snowman killed the reporter on a latin-1 terminal; `=` in a name was a variable."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.make import workspaces
from tests.make.workspaces import Bench

ODD = 'snow ☃man\'s "quoted" $(id) & ;'
COMMANDS = [
    (),
    ("-n", "2"),
    ("list",),
    ("list", "--all"),
    ("plan", "--all"),
    ("plan", "--json"),
    ("verify",),
    ("help", "plan"),
    ("why", f"cell:tiny/{ODD}/nop/0"),
]
LATIN = {"PYTHONIOENCODING": "latin-1"}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = Bench(workspaces.tiny(tmp_path_factory.mktemp("odd") / "wörk ☃ space"))
    suite = json.loads(bench.path("corpus/tiny.yaml").read_text())
    suite["tasks"][0]["id"] = ODD
    bench.path("corpus/tiny.yaml").write_text(json.dumps(suite))
    done = bench.doit(env=LATIN)
    assert done.code == 0, done.stderr
    assert r"snow \u2603man" in done.stdout
    return bench


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words)[:12] or "bare")
def test_every_command_speaks_on_any_terminal(odd: Bench, words: tuple[str, ...], encoding: str):
    done = odd.doit(*words, env={"PYTHONIOENCODING": encoding})
    assert (done.code, done.stderr) == (0, "")


def test_an_unknown_step_with_an_odd_name(odd: Bench):
    done = odd.doit("cell:tiny/\n☃\x1b[31m", env=LATIN)
    assert done.code == 2
    assert len(done.stderr.splitlines()) == 1
    assert "\x1b" not in done.stderr


def test_names_that_doit_would_take_for_something_else_are_refused_at_their_place(tmp_path: Path):
    bench = Bench(workspaces.tiny(tmp_path / "ws"))
    bench.edit("corpus/tiny.yaml", '"id": "add"', '"id": "a=b\\nc"')
    done = bench.doit(env=LATIN)
    assert done.code == 2
    assert done.stderr.startswith("error: corpus/tiny.yaml:")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", ["", "-n 1", "list --all", "plan --all"])
def test_a_reader_that_leaves_early_fails_nothing(built: Callable[[str], Path], tmp_path: Path, words: str):
    bench = Bench(workspaces.copied(built("tiny"), tmp_path / "ws"))
    command = " ".join(workspaces.COMMAND)
    piped = ["bash", "-c", f"{command} {words} | true; exit ${{PIPESTATUS[0]}}"]
    done = subprocess.run(piped, cwd=bench.root, env=bench.environment(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
