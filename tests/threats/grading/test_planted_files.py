"""A session leaves files that Python or a test runner picks up by themselves, so that hidden tests run on its terms.

Guards: such files are left out of the graded view and raise an alarm (`bench.core.planted`); and, where one were
overlooked, the launcher starts isolated, loads the runner before the workspace is importable, and pins its settings.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.core import verdict
from tests.threats.grading.arena import Arena, kinds

GREEN = (
    "import pytest\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
    "    found = yield\n    found.outcome, found.longrepr = 'passed', None\n    return found\n"
)
EXITS = "import os\nos._exit(0)\n"
STUB = "def main(*a, **k): return 0\nraise SystemExit(0)\n"
PLANTED = {
    "sitecustomize": ({"src/sitecustomize.py": EXITS}, {}),
    "usercustomize": ({"usercustomize.py": EXITS}, {"PYTHONPATH": "."}),
    "conftest": ({"conftest.py": GREEN}, {}),
    "pytest.ini": ({"pytest.ini": "[pytest]\naddopts = --collect-only\n"}, {}),
    "pyproject.toml": ({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p green'\n", "src/green.py": GREEN}, {}),
    "tox.ini": ({"tox.ini": "[pytest]\naddopts = --collect-only\n"}, {}),
    "setup.cfg": ({"setup.cfg": "[tool:pytest]\naddopts = --help\n"}, {}),
    "pytest.py": ({"pytest.py": STUB}, {}),
    "pytest package": ({"src/pytest/__init__.py": "", "src/pytest/__main__.py": STUB}, {}),
    "_pytest": ({"src/_pytest/__init__.py": STUB}, {}),
    "pluggy": ({"src/pluggy.py": EXITS}, {}),
    "standard library": ({"src/argparse.py": EXITS}, {}),
    "entry point": (
        {
            "src/green-1.dist-info/entry_points.txt": "[pytest11]\ngreen = green\n",
            "src/green-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: green\nVersion: 1\n",
            "src/green.py": GREEN,
        },
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_files_that_are_picked_up_by_themselves_are_no_pass(tmp_path: Path, name: str) -> None:
    """Guard: left out of the view, named in an alarm; the hidden tests run and fail as they should."""
    left, env = PLANTED[name]
    arena = Arena(tmp_path, left)
    # Where the attack needs the workspace as pytest's own root, the naive grader runs there.
    copied = "cp /hidden/test_hidden.py . 2>/dev/null; exec python -m pytest -q -p no:cacheprovider test_hidden.py"
    assert arena.naive(("sh", "-c", copied), **env).exit == 0, "the attack is blunt"
    found = arena.ours()
    assert found.failed
    assert found.counts == {"expected": 2, "passed": 1, "failed": 1, "missing": 0, "unexpected": 0}
    assert set(arena.planted) & set(left)


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_the_launcher_alone_holds_what_was_overlooked(tmp_path: Path, name: str) -> None:
    """Guard: isolated start, runner loaded first, settings pinned: the same files left in the view do not help either."""
    arena = Arena(tmp_path, PLANTED[name][0])
    arena.view = lambda remove=(), whole=arena.view: whole(())  # type: ignore[method-assign]
    assert arena.ours().failed


def test_a_pth_file_is_named(tmp_path: Path) -> None:
    """Guard: a .pth works from a site directory only, which no session can write; it is left out and named all the same."""
    arena = Arena(tmp_path, {"src/evil.pth": "import os; os._exit(0)\n"})
    assert arena.ours().failed
    assert arena.planted == ["src/evil.pth"]


def test_bytecode_that_differs_from_its_source_is_never_run(tmp_path: Path) -> None:
    """Guard: bytecode is no content, and is named where Python would have trusted it without a look at the source."""
    arena = Arena(tmp_path, {"forge.py": "def f():\n    return 2\n"})
    arena.agent(
        "import py_compile, os, shutil\n"
        "made = py_compile.compile('forge.py', invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\n"
        "os.makedirs('src/__pycache__', exist_ok=True)\n"
        "shutil.copy(made, 'src/__pycache__/m.cpython-%d%d.pyc' % __import__('sys').version_info[:2])\n"
    )
    assert arena.naive().exit == 0, "the attack is blunt"
    seen = arena.collect()
    assert any(what == "bytecode" and path.startswith("src/__pycache__/m.") for path, what in seen.oddities)
    found = Arena(tmp_path / "again", {e.path: e.data for e in seen.entries}).ours()
    assert found.failed


def test_a_hidden_test_of_the_sessions_own_is_not_run_instead(tmp_path: Path) -> None:
    """Guard: the oracle's directory comes first for the hidden tests' own names."""
    own = "def test_callable(): pass\n\ndef test_value(): pass\n"
    arena = Arena(tmp_path, {"src/test_hidden.py": own, "test_hidden.py": own})
    found = arena.ours()
    assert found.failed
    assert found.counts["failed"] == 1


def test_a_module_put_in_place_of_the_hidden_tests_is_no_pass(tmp_path: Path) -> None:
    """Guard: what a test module cannot be imported as is no pass: its ids are missing."""
    first, value = "import m\n\ndef test_first(): assert m\n", "import m\n\ndef test_value(): assert m.f() == 2\n"
    hidden = {"test_a.py": first, "test_hidden.py": value}
    forged = (
        "import sys, types\nfake = types.ModuleType('test_hidden')\nfake.test_value = lambda: None\n"
        "sys.modules['test_hidden'] = fake\ndef f():\n    return 1\n"
    )
    arena = Arena(tmp_path, {"src/m.py": forged})
    run = arena.hidden(hidden)
    expected = verdict.Expected(frozenset({"test_a.py::test_first", "test_hidden.py::test_value"}))
    assert verdict.judge(verdict.Ended(run.exit, run.limit, run.channel), run.nonce, expected).failed


def test_the_oracle_is_read_only_and_its_place_unknown_before(tmp_path: Path) -> None:
    """Guard: mounted read-only at a random place, for its own run alone."""
    attack = (
        "import os, glob\nFOUND, WROTE = glob.glob('/oracle-*/*'), []\nfor path in FOUND:\n"
        "    for how in (os.unlink, lambda p: open(p, 'w'), lambda p: os.rename(p, p + 'x'), lambda p: os.chmod(p, 511)):\n"
        "        try: how(path); WROTE.append(path)\n        except OSError: pass\n"
        "def f():\n    return 1\n"
    )
    hidden = "import m\n\ndef test_callable(): assert m.FOUND and not m.WROTE\n\ndef test_value(): assert m.f() == 2\n"
    arena = Arena(tmp_path, {"src/m.py": attack}, hidden)
    found = arena.ours()
    assert (found.counts["passed"], found.counts["failed"]) == (1, 1)
    assert not kinds(found)
    assert not list(arena.tmp.glob("oracle-*"))
    seen = arena.naive(("sh", "-c", "ls -d /oracle-* 2>&1; env"))
    assert b"oracle-" not in seen.stdout.replace(b"/oracle-*", b"")
