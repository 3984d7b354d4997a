"""The one look before doit: it says that all stands only where doit itself would run nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doit.dependency import Dependency, JSONCodec
from doit.loader import load_tasks

from bench.make import glance, workspace
from bench.make.backend import JournalBackend
from bench.make.checker import checker_for
from tests.make.workspaces import Bench

ADDER = "corpus/repos/adder/adder.sh"
CELL = "artifacts/cells/tiny/add/gold/0.json"
REPORT = "artifacts/reports/tiny"


def loaded(bench: Bench) -> dict[str, Any]:
    """The namespace of the workspace's dodo file, as doit makes it."""
    workspace._INDEXES.clear()
    path = bench.path("dodo.py")
    namespace: dict[str, Any] = {"__file__": str(path), "__name__": "dodo"}
    exec(compile(path.read_text().replace("answer(__file__)", ""), str(path), "exec"), namespace)
    return namespace


def glanced(bench: Bench, *words: str) -> bool:
    namespace = loaded(bench)
    declared = glance.declared(namespace)
    assert declared is not None
    place = namespace["PIPELINE"].workspace
    found = glance.chosen(place, declared, words or namespace["DOIT_CONFIG"]["default_tasks"])
    return found is not None and glance.stand(place, found.steps)


def by_doit(bench: Bench) -> set[str]:
    """Tasks with actions that doit would run."""
    namespace = loaded(bench)
    place = namespace["PIPELINE"].workspace
    manager = Dependency(JournalBackend, str(place.layout.database), checker_for(place), codec_cls=JSONCodec)
    tasks = load_tasks(namespace)
    return {t.name for t in tasks if t.actions and manager.get_status(t, {}).status != "up-to-date"}


@pytest.fixture
def standing(workspace: Bench) -> Bench:
    assert workspace.doit("suite:tiny").code == 0
    return workspace


def test_it_says_yes_where_doit_would_run_nothing(standing: Bench):
    assert glanced(standing)
    assert glanced(standing, "cell:tiny/*", "session:tiny/add/nop/0")
    assert by_doit(standing) == set()


def same_size_and_time(bench: Bench) -> None:
    path = bench.path(ADDER)
    before = path.stat()
    path.write_text(path.read_text().replace("$1 - $2", "$1 * $2"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def another_file(bench: Bench) -> None:
    bench.path("corpus/repos/adder/more.sh").write_text("")


def executable(bench: Bench) -> None:
    bench.path(ADDER).chmod(0o755)


def file_gone(bench: Bench) -> None:
    bench.path("oracles/add/check.sh").unlink()


def record_gone(bench: Bench) -> None:
    bench.path(CELL).unlink()


def record_forged(bench: Bench) -> None:
    path = bench.path(CELL)
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"resolved":true', b'"resolved":null'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def blobs_gone(bench: Bench) -> None:
    shutil.rmtree(bench.path("artifacts/store/blobs"))


def page_gone(bench: Bench) -> None:
    bench.path(f"{REPORT}/report.md").unlink()


def cell_page_gone(bench: Bench) -> None:
    next(bench.path(f"{REPORT}/cells").rglob("*.html")).unlink()


def page_edited(bench: Bench) -> None:
    bench.path(f"{REPORT}/results.jsonl").write_text("{}\n")


def rows(change: Callable[[dict[str, Any]], Any]) -> Callable[[Bench], None]:
    def changed(bench: Bench) -> None:
        path = bench.path("artifacts/.doit.db")
        found = [line for line in map(json.loads, path.read_bytes().splitlines())]
        for line in found:
            if line[:2] == ["t", "cell:tiny/add/gold/0"]:
                change(line[2])
        path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in found))

    return changed


FAULTS = {
    "same-size-and-time": same_size_and_time,
    "another-file": another_file,
    "executable": executable,
    "file-gone": file_gone,
    "record-gone": record_gone,
    "record-forged": record_forged,
    "blobs-gone": blobs_gone,
    "page-gone": page_gone,
    "cell-page-gone": cell_page_gone,
    "page-edited": page_edited,
    "row-empty": rows(lambda row: row.clear()),
    "row-of-another-checker": rows(lambda row: row.update({"checker:": "MD5Checker"})),
    "row-with-fewer-inputs": rows(lambda row: row.update({"deps:": row["deps:"][1:]})),
    "row-of-another-state": rows(lambda row: row.update({row["deps:"][0]: "b3:" + "0" * 64})),
    "suite": lambda bench: bench.edit("corpus/tiny.yaml", '"verify": "test', '"verify": "true && test'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_it_never_says_yes_where_doit_would_run_something(standing: Bench, fault: str):
    FAULTS[fault](standing)
    assert by_doit(standing) != set()
    assert not glanced(standing)


def test_a_touched_record_is_left_to_doit_which_reads_it(standing: Bench):
    standing.path(CELL).touch()
    assert not glanced(standing)
    assert by_doit(standing) == set()


@pytest.mark.parametrize("words", [["nonsense"], ["cell"], ["*"], ["cell:other/*"], [CELL], []])
def test_words_that_name_more_or_less_than_steps_are_left_to_doit(standing: Bench, words: list[str]):
    namespace = loaded(standing)
    declared = glance.declared(namespace)
    assert declared is not None
    assert glance.chosen(namespace["PIPELINE"].workspace, declared, words) is None


def custom() -> dict[str, Any]:
    return {"actions": ["true"]}


def twice() -> Any:
    yield {"name": "a", "actions": None}
    yield {"name": "a", "actions": None}


def with_params(one: int = 1) -> Any:
    yield {"name": "a", "actions": None, "file_dep": [one]}


@pytest.mark.parametrize("creator", [custom, twice, with_params])
def test_a_dodo_file_of_another_kind_is_left_to_doit(creator: Callable[..., Any]):
    assert glance.declared({"task_x": creator}) is None


def test_a_step_that_is_none_of_ours_is_left_to_doit(standing: Bench):
    namespace = loaded(standing)
    own = {"name": "x", "actions": ["true"], "targets": ["artifacts/x.txt"], "file_dep": [CELL]}

    def task_own() -> Any:
        yield own

    declared = glance.declared(namespace | {"task_own": task_own})
    assert declared is not None
    assert glance.chosen(namespace["PIPELINE"].workspace, declared, ["own:x"]) is None


def test_a_foreign_writer_between_the_load_and_the_lock_is_seen(standing: Bench, tmp_path: Path):
    place = loaded(standing)["PIPELINE"].workspace
    assert not place.index.refresh()
    standing.path("artifacts/.stamp").unlink(missing_ok=True)
    assert standing.doit("suite:tiny", "tasks=add", "arms=nop").code == 0
    assert place.index.refresh()
    fresh = loaded(standing)["PIPELINE"].workspace
    assert place.index.records == fresh.index.records
    assert {k: v for k, v in place.index.rows.items()} == {k: v for k, v in fresh.index.rows.items()}
