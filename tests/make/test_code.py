"""The import graph is the rebuild graph: a closure holds what can reach a result, wherever the package is installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench.make.code import Code
from tests.make.workspaces import CODE, Bench


def closure(module: str) -> dict[str, str]:
    return {name: value for name, value in Code().listing(module)}


def test_a_closure_follows_imports_lazy_ones_too_and_counts_data_and_libraries():
    report = closure("bench.steps.report")
    assert {"bench.core.overview", "bench.effects.report.render", "effects/report/templates/report.md"} <= set(report)
    assert "lib:jinja2" in report, "imported when it is used, and counted all the same"
    assert not [name for name in report if name.startswith(("bench.make", "bench.steps.session", "lib:json"))]


def test_what_a_step_does_not_import_is_not_in_its_closure():
    assert "bench.core.medians" in closure("bench.steps.aggregate")
    assert "bench.core.medians" not in closure("bench.steps.cell")


def test_it_is_the_same_each_time():
    assert Code().closure("bench.steps.cell") == Code().closure("bench.steps.cell")


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """A copy of the package at another place."""
    shutil.copytree(CODE / "bench", tmp_path / "code" / "bench", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    return tmp_path / "code"


def moving(bench: Bench, code: Path) -> set[str]:
    import json

    done = bench.doit("plan", "--json", env={"PYTHONPATH": str(code)})
    assert done.code == 0, done.stderr
    return {row["step"] for row in json.loads(done.stdout)["steps"] if row["action"] != "current"}


def test_the_same_code_elsewhere_moves_nothing(workspace: Bench, edited: Path):
    assert moving(workspace, edited) == set()


@pytest.mark.parametrize(
    ("module", "moved"),
    [
        ("core/medians.py", {"aggregate:tiny/add", "aggregate:tiny", "health:tiny", "report:tiny"}),
        ("effects/report/templates/report.md", {"report:tiny"}),
        ("effects/grading/inside/launcher.py", {"cell:tiny/add/nop/0", "cell:tiny/add/gold/0"}),
        ("effects/sandbox/init.py", {"cell:tiny/add/nop/0", "cell:tiny/add/gold/0"}),
        ("effects/sandbox/overlay.py", {"cell:tiny/add/nop/0", "cell:tiny/add/gold/0"}),
        ("make/conduct.py", set()),
    ],
)
def test_an_edit_moves_what_imports_it_and_no_costly_step(workspace: Bench, edited: Path, module: str, moved: set[str]):
    path = edited / "bench" / module
    comment = "{# edited #}\n" if path.suffix == ".md" else "# edited\n"
    path.write_text(path.read_text() + comment)
    found = moving(workspace, edited)
    assert moved <= found
    assert {step.partition(":")[0] for step in found} <= {"cell", "aggregate", "health", "report"}
    if not moved:
        assert found == set()
