"""The copy of the interpreter that sandboxes see."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.effects.interpreter import minor
from bench.effects.sandbox import DEPENDENCIES, interpreter


def test_it_is_made_once_and_whole() -> None:
    copied = interpreter.neutral()
    assert interpreter.neutral() == copied
    assert (copied / "bin" / "python3").is_file()
    assert str((copied / "lib" / f"python{minor()}" / "site-packages").readlink()) == DEPENDENCIES


def test_no_package_of_the_host_is_in_it() -> None:
    assert not list(interpreter.neutral().rglob("*.dist-info"))


def test_a_prefix_is_replaced_by_one_of_the_same_length(tmp_path: Path) -> None:
    [(old, new)] = interpreter._replacements({"/home/somebody/.versions/3.11.7"}, tmp_path)
    assert len(old) == len(new)
    assert new == b"/opt/python" + b"/" * 14 + b"3.11.7"
    assert (tmp_path / "3.11.7").resolve() == tmp_path


def test_a_prefix_that_names_nobody_stays(tmp_path: Path) -> None:
    assert interpreter._replacements({"/usr", "/usr/local", "/opt/py"}, tmp_path) == []


def test_the_version_string_at_the_tail_of_the_prefix_stays() -> None:
    """Linkers store `3.11.7` as the tail of `/home/…/3.11.7`: overwriting that made the interpreter forget its version."""
    for library in (interpreter.neutral() / "lib").glob("libpython3.*.so*"):
        version = ".".join(map(str, sys.version_info[:3])).encode()
        assert version in library.read_bytes()
