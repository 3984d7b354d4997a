"""What a stamp watches on a real workspace, and what falls through to the full check."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.effects.engines.claude import binary
from bench.make import stamp
from tests.make import workspaces
from tests.make.workspaces import CODE, Bench


def test_it_watches_files_folders_and_everything_of_ours_but_bytecode(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("x")
    data = stamp.leave(tmp_path, ["a/b"], {}, {"": "said\n"}, 1.5)
    head, _, paths = data.split(b"\n", 2)
    watched = set(paths.decode().split("\n"))
    assert {"a/b", "a", "dodo.py"} <= watched
    assert str(CODE / "bench" / "effects" / "report" / "templates" / "report.md") in watched
    assert str(CODE / "bench" / "schemas" / "suite.schema.json") in watched
    assert not [path for path in watched if path.endswith(".pyc")]
    assert json.loads(head)["expires"] == 1.5


@pytest.fixture
def stamped(workspace: Bench) -> Bench:
    assert workspace.doit().code == 0
    assert workspace.doit().stdout.startswith("everything up to date")
    return workspace


def mode(bench: Bench) -> None:
    bench.path("corpus/repos/adder/adder.sh").chmod(0o755)


def blob(bench: Bench) -> None:
    path = next(path for path in bench.path("artifacts/store/blobs").rglob("*") if path.is_file())
    path.unlink()


def suite(bench: Bench) -> None:
    bench.path("corpus/broken.yaml").write_text("suite: [")


def page(bench: Bench) -> None:
    next(bench.path("artifacts/reports/tiny/cells").rglob("*.html")).unlink()


def expiry(bench: Bench) -> None:
    path = bench.path("artifacts/.stamp")
    head, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps(json.loads(head) | {"expires": time.time() - 1}).encode() + b"\n" + rest)


def junk(bench: Bench) -> None:
    bench.path("artifacts/.stamp").write_bytes(b"\xff\xfe")


@pytest.mark.parametrize("change", [mode, blob, suite, page, expiry, junk], ids=lambda change: change.__name__)
def test_what_falls_through(stamped: Bench, change):
    change(stamped)
    done = stamped.doit()
    assert not done.stdout.startswith("everything up to date")
    assert "Traceback" not in done.stderr


def test_a_variable_or_an_option_is_never_answered_by_it(stamped: Bench):
    for words in (("arms=nop",), ("--wait",), ("cell:tiny/*",)):
        assert not stamped.doit(*words).stdout.startswith("everything up to date")


def test_touched_inputs_and_the_suites_name_are_answered(stamped: Bench):
    for path in ("corpus/tiny.yaml", "corpus/repos/adder/adder.sh", "oracles/add/check.sh"):
        stamped.path(path).touch()
    for words in ((), ("-n", "2"), ("suite:tiny",)):
        assert stamped.doit(*words).stdout.startswith("everything up to date")


def test_a_deleted_page_of_a_cell_is_laid_out_again(stamped: Bench):
    pages = {path: path.read_bytes() for path in stamped.path("artifacts/reports/tiny").rglob("*") if path.is_file()}
    page(stamped)
    assert stamped.doit().code == 0
    assert {path: path.read_bytes() for path in stamped.path("artifacts/reports/tiny").rglob("*") if path.is_file()} == pages
    assert stamped.doit().stdout.startswith("everything up to date")


def test_steps_that_were_named_are_answered_by_a_stamp_of_their_own(stamped: Bench):
    words = ("health:tiny", "report:tiny")
    first = stamped.doit(*words)
    assert not first.stdout.startswith("everything up to date")
    assert stamped.doit(*words).stdout.startswith("everything up to date (14 steps)\n")
    stamped.edit("oracles/add/check.sh", "= 5", "-eq 5")
    assert not stamped.doit(*words).stdout.startswith("everything up to date")


@pytest.mark.slow
def test_another_client_under_the_same_name_is_looked_at(built: Callable[[str], Path], tmp_path: Path):
    """A stamp must not say that all is up to date on the evidence of a client that is installed no more."""
    bench = Bench(workspaces.copied(built("client"), tmp_path / "ws"))
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.symlink_to(binary.program())
    ours = {"BENCH_CLAUDE": str(program)}
    assert bench.doit(env=ours).code == 0
    assert bench.doit(env=ours).stdout.startswith("everything up to date")
    assert bench.doit(env={"BENCH_CLAUDE": "/nowhere/claude"}).code == 3
    assert bench.doit(env=ours).stdout.startswith("everything up to date")
    program.unlink()
    gone = bench.doit(env=ours)
    assert (gone.code, gone.stdout.startswith("everything up to date")) == (3, False), gone.stderr
    program.symlink_to(binary.program())
    assert bench.doit(env=ours).code == 0
