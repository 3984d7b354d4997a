from __future__ import annotations

import importlib.metadata
import platform
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects import proc, trees, wheels
from bench.effects.interpreter import minor
from bench.effects.sandbox import PYTHON
from bench.effects.trees import Entry
from bench.errors import CorpusError, SourceError
from tests.effects.wheelmaking import filename, wheel

SHEBANG = f"#!{PYTHON}\n".encode()
ODDS_AND_ENDS = {
    "odds/__init__.py": b"__version__ = '1.0'\n",
    "odds/tool.sh": b"#!/bin/sh\necho hi\n",
    "odds/data.bin": bytes(range(256)),
    "odds-1.0.data/purelib/odds_more.py": b"MORE = 1\n",
    "odds-1.0.data/platlib/odds_plat.py": b"PLAT = 1\n",
    "odds-1.0.data/scripts/odds-script": b"#!python\nprint('script')\n",
    "odds-1.0.data/scripts/odds-shell": b"#!/bin/sh\necho shell\n",
    "odds-1.0.data/data/bin/odds-program": b"\x7fELF",
    "odds-1.0.data/data/share/man/man1/odds.1": b".TH\n",
    "odds-1.0.data/headers/odds.h": b"int odds;\n",
}
ENTRY_POINTS = "[console_scripts]\nodds = odds:main\n[gui_scripts]\nodds-gui = odds.gui:App.run\n[pytest11]\nodds = odds\n"


def odds(**extra: bytes) -> bytes:
    files = ODDS_AND_ENDS | {path: data for path, data in extra.items()}
    return wheel("odds", "1.0", files, entry_points=ENTRY_POINTS, executable=("odds/tool.sh",))


def by_path(entries: list[Entry]) -> dict[str, Entry]:
    return {entry.path: entry for entry in entries}


def test_a_wheel_is_unpacked_into_one_flat_tree() -> None:
    found = by_path(wheels.unpack(odds(), filename("odds", "1.0")))
    assert sorted(found) == [
        "bin/odds",
        "bin/odds-gui",
        "bin/odds-program",
        "bin/odds-script",
        "bin/odds-shell",
        "odds-1.0.dist-info/METADATA",
        "odds-1.0.dist-info/WHEEL",
        "odds-1.0.dist-info/entry_points.txt",
        "odds/__init__.py",
        "odds/data.bin",
        "odds/tool.sh",
        "odds_more.py",
        "odds_plat.py",
    ]
    assert found["odds/tool.sh"].mode == "100755"
    assert found["odds/data.bin"].mode == "100644"
    assert found["bin/odds-script"] == Entry("bin/odds-script", "100755", SHEBANG + b"print('script')\n")
    assert found["bin/odds-shell"].data.startswith(b"#!/bin/sh\n")
    assert found["bin/odds"].data.startswith(SHEBANG)
    assert b"from odds.gui import App" in found["bin/odds-gui"].data


def test_the_tree_does_not_depend_on_the_order_of_the_archive() -> None:
    there = wheel("odds", "1.0", ODDS_AND_ENDS, entry_points=ENTRY_POINTS)
    back = wheel("odds", "1.0", dict(reversed(ODDS_AND_ENDS.items())), entry_points=ENTRY_POINTS)
    assert there != back
    assert wheels.unpack(there, filename("odds", "1.0")) == wheels.unpack(back, filename("odds", "1.0"))


def test_byte_code_in_a_wheel_is_left_out_without_a_warning() -> None:
    extra = {"odds/__pycache__/x.cpython-311.pyc": b"x", "odds/legacy.pyc": b"x"}
    data = wheel("odds", "1.0", ODDS_AND_ENDS | extra, entry_points=ENTRY_POINTS, executable=("odds/tool.sh",))
    assert wheels.unpack(data, filename("odds", "1.0")) == wheels.unpack(odds(), filename("odds", "1.0"))


@pytest.mark.parametrize(
    "path",
    ["../evil.py", "/evil.py", "odds/../../evil.py", "odds-1.0.data/scripts/../../evil", "odds\\evil.py", "./odds.py"],
)
def test_a_member_that_leaves_the_tree_is_refused(path: str) -> None:
    with pytest.raises(SourceError):
        wheels.unpack(wheel("odds", "1.0", {path: b"x"}), filename("odds", "1.0"))


@pytest.mark.parametrize("name", ["../odds", "/odds", ".."])
def test_an_entry_point_that_leaves_the_scripts_is_refused(name: str) -> None:
    data = wheel("odds", "1.0", {"odds.py": b""}, entry_points=f"[console_scripts]\n{name} = odds:main\n")
    with pytest.raises(SourceError):
        wheels.unpack(data, filename("odds", "1.0"))


def test_what_is_no_sound_wheel_is_refused_in_one_line() -> None:
    torn = odds()[:-40]
    no_object = wheel("odds", "1.0", {"odds.py": b""}, entry_points="[console_scripts]\nodds = odds\n")
    for data in (b"", b"PK", torn, no_object):
        with pytest.raises(SourceError, match=r"odds-1\.0-py3-none-any\.whl: is not a sound wheel"):
            wheels.unpack(data, filename("odds", "1.0"))


def test_a_wheel_whose_record_does_not_fit_is_refused() -> None:
    data = odds().replace(b"MORE = 1", b"MORE = 2")
    with pytest.raises(SourceError):
        wheels.unpack(data, filename("odds", "1.0"))


def test_of_two_members_with_one_place_only_equal_ones_pass() -> None:
    same = {"odds.py": b"1", "odds-1.0.data/purelib/odds.py": b"1"}
    assert "odds.py" in by_path(wheels.unpack(wheel("odds", "1.0", same), filename("odds", "1.0")))
    with pytest.raises(SourceError, match=r"both hold odds\.py"):
        wheels.unpack(wheel("odds", "1.0", same | {"odds.py": b"2"}), filename("odds", "1.0"))


@pytest.mark.parametrize("name", ["pytest", "pluggy", "iniconfig", "packaging", "pygments"])
def test_an_installation_has_a_normal_form(name: str) -> None:
    found = wheels.installed(name, importlib.metadata.version(name))
    assert found is not None
    paths = [entry.path for entry in found]
    assert all(not path.endswith((".pyc", "/RECORD", "/INSTALLER", "/REQUESTED")) for path in paths)
    assert all("__pycache__" not in path and ".." not in path for path in paths)
    assert all(sys.prefix.encode() not in entry.data for entry in found)


def test_what_is_not_installed_or_of_another_version_is_none() -> None:
    assert wheels.installed("no-such-distribution-here", "1") is None
    assert wheels.installed("pytest", "0.0.1") is None


INSTALL_AND_DIGEST = """
import sys
from bench.effects import trees, wheels
found = wheels.installed("odds", "1.0")
print(None if found is None else trees.tree_digest(found))
"""


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real environment with `odds` installed by the real pip, and this project on its path."""
    root = tmp_path_factory.mktemp("venv")
    home = root / "env"
    assert proc.run([sys.executable, "-m", "venv", str(home)]).exit == 0
    made = root / filename("odds", "1.0")
    made.write_bytes(odds())
    python = str(home / "bin/python")
    done = proc.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(made)])
    assert done.exit == 0, done.tail()
    site = next((home / "lib").glob("python*/site-packages"))
    (site / "project.pth").write_text("\n".join(path for path in sys.path if path and Path(path).is_dir()))
    return home


def digest_in(venv: Path) -> str:
    done = proc.run([str(venv / "bin/python"), "-c", INSTALL_AND_DIGEST], cwd=Path(__file__).parents[2])
    assert done.exit == 0, done.tail(2000)
    return done.stdout.decode().strip()


@pytest.mark.slow
def test_an_installation_by_pip_has_the_digest_of_its_wheel(venv: Path) -> None:
    assert digest_in(venv) == trees.tree_digest(wheels.unpack(odds(), filename("odds", "1.0")))


@pytest.mark.slow
def test_an_edited_installation_has_another_digest(venv: Path) -> None:
    edited = next((venv / "lib").glob("python*/site-packages/odds_more.py"))
    edited.write_bytes(b"MORE = 7\n")
    assert digest_in(venv) != trees.tree_digest(wheels.unpack(odds(), filename("odds", "1.0")))
    edited.unlink()
    assert digest_in(venv) == "None"
    edited.write_bytes(ODDS_AND_ENDS["odds-1.0.data/purelib/odds_more.py"])


def test_trees_are_merged_and_sorted() -> None:
    one, two = [Entry("b", "100644", b""), Entry("a/x", "100644", b"")], [Entry("a/y", "100644", b"")]
    assert [entry.path for entry in wheels.merge([("one", one), ("two", two)])] == ["a/x", "a/y", "b"]


def test_equal_files_of_two_distributions_pass_and_different_ones_are_refused() -> None:
    space = Entry("space/__init__.py", "100644", b"")
    assert wheels.merge([("one", [space]), ("two", [space])]) == [space]
    with pytest.raises(SourceError, match=r"one and two both hold space/__init__\.py"):
        wheels.merge([("one", [space]), ("two", [Entry(space.path, "100644", b"x")])])
    with pytest.raises(SourceError, match=r"one and two both hold space/__init__\.py"):
        wheels.merge([("one", [space]), ("two", [Entry(space.path, "100755", b"")])])


def test_a_file_over_a_directory_is_refused() -> None:
    with pytest.raises(SourceError, match="a is a file in one and a directory in two"):
        wheels.merge([("one", [Entry("a", "100644", b"")]), ("two", [Entry("a/b", "100644", b"")])])


@given(st.permutations(["a", "b/c", "b/d", "e/f/g"]))
def test_the_merge_does_not_depend_on_order(paths: list[str]) -> None:
    entries = [Entry(path, "100644", path.encode()) for path in paths]
    merged = wheels.merge([(str(i), [entry]) for i, entry in enumerate(entries)])
    assert [entry.path for entry in merged] == ["a", "b/c", "b/d", "e/f/g"]


PYTHON_TAG = "cp" + minor().replace(".", "")


@pytest.mark.parametrize(
    "name",
    [
        "odds-1.0-py3-none-any.whl",
        "odds-1.0-py2.py3-none-any.whl",
        f"odds-1.0-{PYTHON_TAG}-none-any.whl",
        "Odds-1.0.0-py3-none-any.whl",
    ],
)
def test_pure_wheels_are_accepted(name: str) -> None:
    version = "1.0.0" if "1.0.0" in name else "1.0"
    wheels.check_filename(name, "odds", version, minor())


def test_manylinux_wheels_of_this_machine_are_accepted() -> None:
    machine = platform.machine()
    for tag in (f"{PYTHON_TAG}-{PYTHON_TAG}", "cp32-abi3", "py3-none"):
        wheels.check_filename(f"odds-1.0-{tag}-manylinux2014_{machine}.whl", "odds", "1.0", minor())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("odds-1.0.tar.gz", "source distribution"),
        ("odds-1.0.zip", "source distribution"),
        ("odds.whl", "not the name of a wheel"),
        ("evens-1.0-py3-none-any.whl", "is not odds 1.0"),
        ("odds-1.1-py3-none-any.whl", "is not odds 1.0"),
        ("odds-1.0-py2-none-any.whl", "only pure or manylinux"),
        ("odds-1.0-cp26-cp26-manylinux2014_x86_64.whl", "only pure or manylinux"),
        (f"odds-1.0-{PYTHON_TAG}-{PYTHON_TAG}-linux_x86_64.whl", "only pure or manylinux"),
        (f"odds-1.0-{PYTHON_TAG}-{PYTHON_TAG}-musllinux_1_2_x86_64.whl", "only pure or manylinux"),
        (f"odds-1.0-{PYTHON_TAG}-{PYTHON_TAG}-macosx_11_0_arm64.whl", "only pure or manylinux"),
        (f"odds-1.0-{PYTHON_TAG}-{PYTHON_TAG}-win_amd64.whl", "only pure or manylinux"),
        (f"odds-1.0-{PYTHON_TAG}-{PYTHON_TAG}-manylinux2014_s390x.whl", "only pure or manylinux"),
    ],
)
def test_other_files_are_refused_with_a_remedy(name: str, why: str) -> None:
    with pytest.raises(CorpusError, match=why) as refused:
        wheels.check_filename(name, "odds", "1.0", minor())
    assert refused.value.where == name
    assert "doit relock" in refused.value.remedy


def test_projects_are_compared_by_normalised_name() -> None:
    assert wheels.same_project("Zope.Interface", "zope_interface")
    assert not wheels.same_project("attrs", "attr")


def test_the_form_is_pinned() -> None:
    """A change of the normal form makes every lock wrong: it must be a decision, not an accident."""
    made = wheel("odds", "1.0", ODDS_AND_ENDS, entry_points=ENTRY_POINTS)
    assert (
        trees.tree_digest(wheels.unpack(made, filename("odds", "1.0")))
        == "b3:f3b32962b11e4903ca18003ab2c61cf25d05ed69ea5f9ea2e8a61a057dd74db1"
    )


@given(st.integers(0, len(odds()) - 1), st.binary(min_size=1, max_size=8))
def test_a_damaged_wheel_is_refused_or_harmless(place: int, junk: bytes) -> None:
    data = odds()
    damaged = data[:place] + junk + data[place + len(junk) :]
    try:
        found = wheels.unpack(damaged, filename("odds", "1.0"))
    except SourceError:
        return
    for entry in found:
        assert not {"", ".", ".."} & set(entry.path.split("/"))
