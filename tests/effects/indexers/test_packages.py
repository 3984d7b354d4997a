"""The closure of an installed distribution, told by its metadata."""

from importlib import metadata

import pytest

from bench.effects.indexers import packages
from bench.errors import MissingPart


def test_the_closure_follows_what_is_required_here():
    closure = packages.closure("codeanalyzer-python")
    assert {"codeanalyzer-python", "jedi", "parso", "pydantic-core", "ray"} <= set(closure)
    assert list(closure) == sorted(closure)
    assert packages.versions(closure)["jedi"] == metadata.version("jedi")


def test_what_is_left_out_takes_its_own_requirements_with_it():
    closure = packages.closure("codeanalyzer-python", frozenset({"jedi", "ray"}))
    assert "jedi" not in closure
    assert "parso" in closure, "codeanalyzer-python requires it itself"
    assert "ray" not in closure


def test_extras_are_not_part_of_it():
    assert "pytest" not in packages.closure("codeanalyzer-python")


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(MissingPart, match="package no-such-package-anywhere is not installed"):
        packages.closure("no-such-package-anywhere")


def test_mounts_show_each_package_and_its_metadata_and_nothing_else():
    binds = packages.mounts(packages.closure("jedi"), "/opt/indexer")
    names = {bind.target.removeprefix("/opt/indexer/") for bind in binds}
    assert {"jedi", "parso"} <= names
    assert {n.split("-")[0] for n in names} == {"jedi", "parso"}
    assert all(bind.source.exists() for bind in binds)


def test_single_modules_are_files(tmp_path):
    binds = packages.mounts(packages.closure("typing-extensions"), "/x")
    assert [bind.source.is_file() for bind in binds if bind.target == "/x/typing_extensions.py"] == [True]


def test_a_distribution_without_a_list_of_files_is_refused(tmp_path):
    (tmp_path / "odd-1.dist-info").mkdir()
    (tmp_path / "odd-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1\n")
    [odd] = metadata.distributions(path=[str(tmp_path)])
    with pytest.raises(MissingPart, match="package odd has no list of its files"):
        packages.mounts({"odd": odd}, "/x")
