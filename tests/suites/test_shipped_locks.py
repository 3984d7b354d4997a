"""What the shipped suites install can be used with every Python that the project supports, on any machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename

import bench
from bench.core import lock
from bench.effects import wheels

CORPUS = Path(bench.__file__).resolve().parent.parent / "corpus"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.lock.json")), ids=lambda path: path.name)
def test_every_locked_wheel_fits_everywhere(path: Path) -> None:
    entries = [entry for pinned in lock.parse(path.read_text("utf-8"), path.name).dependencies.values() for entry in pinned]
    assert entries, "a lock of nothing needs no file"
    for entry in entries:
        for python in PYTHONS:
            wheels.check_filename(entry["filename"], entry["name"], entry["version"], python)
        kinds = {(tag.abi, tag.platform) for tag in parse_wheel_filename(entry["filename"])[3]}
        assert kinds == {("none", "any")}, entry["filename"]
