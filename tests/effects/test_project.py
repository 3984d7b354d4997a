"""The name of a source, from its metadata alone."""

from __future__ import annotations

import pytest

from bench.effects import project
from bench.effects.trees import Entry


def named(files: dict[str, str]) -> set[str]:
    return project.names(Entry(path, "100644", text.encode()) for path, text in files.items())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", '[project]\nname = "odds"\n'),
        ("pyproject.toml", '[tool.poetry]\nname = "odds"\n'),
        ("setup.cfg", "[metadata]\nname = odds\nversion = %(nothing)s\n"),
        ("setup.py", "import setuptools\nraise SystemExit(1)\nsetuptools.setup(version='1', name='odds')\n"),
        ("setup.py", "from setuptools import setup\nsetup(name='odds', description='\\d')\n"),
        ("PKG-INFO", "Metadata-Version: 2.1\nName: odds\nVersion: 1\n\nName: evens\n"),
    ],
)
def test_each_kind_of_metadata_names_it(path: str, text: str) -> None:
    assert named({path: text, "README": "Name: evens"}) == {"odds"}
    assert named({f"vendored/{path}": text}) == set(), "only the root is the project"


@pytest.mark.parametrize("path", ["pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO"])
@pytest.mark.parametrize(
    "text", ["", "[", "\0", "name = 1", "[project]\nname = 1\n", "tool = 1", "(" * 5000, "setup(name=N)", "\ud800"]
)
def test_what_cannot_be_read_names_nothing(path: str, text: str) -> None:
    assert project.names([Entry(path, "100644", text.encode("utf-8", "surrogatepass"))]) == set()


def test_a_link_or_a_huge_file_names_nothing() -> None:
    text = b'[project]\nname = "odds"\n'
    assert project.names([Entry("pyproject.toml", "120000", text)]) == set()
    assert project.names([Entry("pyproject.toml", "100644", text + b"#" * project.MOST)]) == set()
